#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "base/task_group.hpp"
#include "catalog/view/catalog.hpp"
#include "catalog/view/view_cache.hpp"
#include "client/connection/connection.hpp"
#include "gateway/callers/access.hpp"
#include "gateway/callers/context_view.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/callers/quota.hpp"
#include "gateway/callers/view_spec.hpp"
#include "gateway/connections/shared_requests.hpp"
#include "gateway/connections/upstream_session.hpp"
#include "gateway/grants/grant_authorizer.hpp"
#include "gateway/grants/grant_seekers.hpp"
#include "gateway/identity/identity_reader.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "net/http_client/http_client.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

class Programs;

// A connection of a worker to an upstream, for callers. Whoever holds it may use it on the worker's thread only; let go
// of by its last holder, on any thread, it is closed in the background.
using CallerConnection = std::shared_ptr<client::Connection>;

// Where the requests of a principal that listens are made, so that what follows from them is heard.
struct Home {
  Worker* worker;
  std::shared_ptr<OwnLists> lists;
};

// One thread's part of the gateway: what it keeps so as to share nothing with the others. Belongs to the thread of its
// context. `close` must have ended before it is destroyed.
class Worker {
 public:
  Worker(boost::asio::io_context& io, const Clock& clock, const catalog::Catalog& catalog, const UpstreamTables& tables,
         const Published<Access>& access, QuotaTable& quotas, net::HttpClientOptions http,
         std::chrono::milliseconds debounce);

  boost::asio::io_context& io() { return io_; }
  net::HttpClient& http() { return http_; }
  Clock::Monotonic now() const { return clock_.now(); }
  std::chrono::milliseconds debounce() const { return debounce_; }

  const Access& access() { return *access_; }
  // What contexts make of what a caller sees; null where there are none.
  std::shared_ptr<const ContextView> context_view(const server::Caller& caller) {
    return context_views_.of(access_->contexts, caller);
  }
  // What a caller sees now.
  std::shared_ptr<const catalog::View> view(const server::Caller& caller) { return view_with(caller, nullptr); }
  // The same with what upstreams show this caller alone, in its session where it has one.
  std::shared_ptr<const catalog::View> view(const server::Caller& caller, server::Session* session);
  std::shared_ptr<const catalog::View> view(const server::Call& call) { return view(call.caller(), call.session()); }
  // What of that its lists show: for those who search it is less.
  std::shared_ptr<const catalog::View> listed_view(const server::Call& call);
  // What upstreams show this caller alone; null where none of them ever did.
  std::shared_ptr<OwnLists> own_lists(const server::Caller& caller, server::Session* session);
  // Who may be given an answer that was made from this view: everybody only where everybody sees the same.
  mcp::CacheScope cache_scope(const catalog::View& view);
  // What an upstream shows everybody; null for nothing.
  catalog::SnapshotPointer snapshot_of(const catalog::UpstreamName& upstream);
  // Lets go of views that nobody has asked for lately, such as those of sessions that have ended, and of lines to
  // upstreams that nobody has used; those that are kept are not listened to.
  void drop_unused_since(Clock::Monotonic time);
  const UpstreamTable& upstreams();
  // What a principal may still ask for; see QuotaReader.
  Quota& quota(const std::string& principal) { return quotas_.get(principal); }

  // Who is known by tokens of identity providers. Set before anything is asked.
  void set_identities(Identities& identities) { identities_.emplace(identities); }
  IdentityReader& identities() { return *identities_; }

  // Calls of this worker that belong to no session, so that they can be ended.
  server::RunningCalls& running() { return running_; }
  // Ends those of some callers, who are told why.
  void end_calls(const std::function<bool(const server::Caller&)>& whose, const std::string& why);

  // Where credentials of callers at upstreams are. Set before anything is asked.
  void set_vault(Vault& vault) { vault_ = &vault; }
  // Those of a caller at an upstream where each has their own; null elsewhere, and for anonymous callers.
  // `authorization` is what the caller came with.
  std::shared_ptr<GrantAuthorizer> authorizer_for(const ServedUpstream& upstream, const server::Caller& caller,
                                                  std::string_view authorization = {});

  // Whether a caller has no grant there that can be used, and only a person can get one.
  bool must_sign_in(const ServedUpstream& upstream, const server::Caller& caller) const;

  SharedRequests& shared_requests() { return shared_requests_; }

  // The connection that all callers share: to a modern upstream, which keeps nothing for them.
  CallerConnection shared_connection(const ServedUpstream& upstream);
  // One for all requests of a principal that have no session: to a legacy upstream, which may keep something for it.
  std::shared_ptr<UpstreamSession> line_of(const ServedUpstream& upstream, const std::string& principal);
  // One in which nothing was asked yet, for a single call of a caller that nothing tells from others. It ends with its
  // last holder. Another one is prepared meanwhile, so that the next call need not wait.
  std::shared_ptr<UpstreamSession> fresh_line(const ServedUpstream& upstream);
  // It is nobody's any more; requests under way on it go on.
  void give_up(const ServedUpstream& upstream, const std::string& principal,
               const std::shared_ptr<UpstreamSession>& line);
  // All that is kept for a principal that does not come back; requests under way go on.
  void forget(const std::string& principal);
  // A connection to an upstream that nobody else uses.
  CallerConnection connect(const ServedUpstream& upstream, client::Options options);
  // Who may run programs for callers. Before anything is asked.
  void set_programs(Programs& programs) { programs_ = &programs; }
  Programs& programs() { return *programs_; }
  // Since when the program that has been idle for longest was not used: of one upstream, or of all. Nothing where none
  // is.
  std::optional<Clock::Monotonic> longest_idle_program(std::optional<std::uint64_t> instance);
  // Ends that one; false where there is none any more.
  Task<bool> end_longest_idle_program(std::optional<std::uint64_t> instance);
  // A line of this worker, so that it can rest.
  void keep(const std::shared_ptr<UpstreamSession>& line);

  // Where a principal that listens is at home; null for one that does not.
  const Home* home_of(const std::string& principal) const;
  void set_home(const std::string& principal, std::optional<Home> home);
  // Who hears what is announced on a line of a principal. Before anything is asked.
  void set_observers(std::function<SessionObserver(const std::string& principal)> observers) {
    observers_ = std::move(observers);
  }
  void renew_lines(const std::string& principal);
  std::shared_ptr<OwnLists> lists_of(const std::string& principal);

  // Runs something that a request began and may leave behind.
  void run(std::string_view what, Task<> task) { left_behind_.spawn(what, std::move(task)); }

  Task<> close();

 private:
  std::shared_ptr<const catalog::View> view_with(const server::Caller& caller,
                                                 std::shared_ptr<const OwnLists::Snapshots> alone,
                                                 ViewFor purpose = ViewFor::use);
  void drop_unused_lines(Clock::Monotonic time);
  std::shared_ptr<UpstreamSession> longest_idle_line(std::optional<std::uint64_t> instance);
  std::shared_ptr<UpstreamSession> make_line(const ServedUpstream& upstream, client::Owner owner,
                                             SessionObserver observer, const std::string& principal = {});
  // The same as `authorizer_for` of whom the key of a principal stands for.
  std::shared_ptr<GrantAuthorizer> authorizer_of(const ServedUpstream& upstream, const std::string& principal);
  Task<> prepare_line(ServedUpstream upstream);
  static Task<> end(std::unique_ptr<client::Connection> connection);

  boost::asio::io_context& io_;
  const Clock& clock_;
  const std::chrono::milliseconds debounce_;
  net::HttpClient http_;
  catalog::CatalogReader reader_;
  catalog::ViewCache views_;
  ContextViews context_views_;
  Published<Access>::Reader access_;
  UpstreamTables::Reader tables_;
  QuotaReader quotas_;
  std::optional<IdentityReader> identities_;
  SharedRequests shared_requests_;
  server::RunningCalls running_;
  const UpstreamTable* table_;  // that connections were last looked over for
  TaskGroup left_behind_;
  TaskGroup closing_;
  std::unordered_map<std::uint64_t, CallerConnection> shared_;
  Programs* programs_ = nullptr;
  Vault* vault_ = nullptr;
  GrantSeekers seekers_;
  std::function<SessionObserver(const std::string& principal)> observers_;
  std::map<std::pair<std::string, std::uint64_t>, std::shared_ptr<UpstreamSession>> by_principal_;
  // One for the next call that wants one to itself, by upstream; null while it is being prepared.
  std::unordered_map<std::uint64_t, std::shared_ptr<UpstreamSession>> prepared_;
  std::vector<std::weak_ptr<UpstreamSession>> lines_;
  std::unordered_map<std::string, Home> homes_;
  std::unordered_map<std::string, std::shared_ptr<OwnLists>> own_lists_;  // of principals that are at home here
  std::size_t open_ = 0;
  int give_back_ = 0;  // so many times still, after many views were dropped
};

}  // namespace proteus::gateway
