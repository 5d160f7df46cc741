#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "base/tasks/task_group.hpp"
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

// The worker that makes the requests of a principal that listens, and that principal's own lists.
struct Home {
  Worker* worker;
  std::shared_ptr<OwnLists> lists;
};

// The part of the gateway that one thread has for itself, so as to share nothing with other threads. Belongs to the
// thread of its context. `close` must have ended before it is destroyed.
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
  // Returns how contexts change what a caller sees. See ContextViews::of.
  std::shared_ptr<const ContextView> context_view(const server::Caller& caller) {
    return context_views_.of(access_->contexts, caller);
  }
  // Returns what a caller sees now.
  std::shared_ptr<const catalog::View> view(const server::Caller& caller) { return view_with(caller, nullptr); }
  // Like the other `view`, with what upstreams show this caller alone: in its session, if it has one.
  std::shared_ptr<const catalog::View> view(const server::Caller& caller, server::Session* session);
  std::shared_ptr<const catalog::View> view(const server::Call& call) { return view(call.caller(), call.session()); }
  // Returns what the caller's lists show, which is less than `view` for callers who search.
  std::shared_ptr<const catalog::View> listed_view(const server::Call& call);
  // Returns what upstreams show this caller alone; null if they never have.
  std::shared_ptr<OwnLists> own_lists(const server::Caller& caller, server::Session* session);
  // Returns who may get an answer made from this view: everybody only if everybody sees the same.
  mcp::CacheScope cache_scope(const catalog::View& view);
  // Returns what an upstream shows everybody; null for nothing.
  catalog::SnapshotPointer snapshot_of(const catalog::UpstreamName& upstream);
  // Releases views, upstream sessions and prepared sessions that have not been used lately. Sessions that are kept stop
  // listening if their callers have no stream.
  void drop_unused_since(Clock::Monotonic time);
  // Returns the upstreams as they are now. The reference is valid until the current coroutine suspends.
  const UpstreamTable& upstreams();
  // Returns the quota of a principal; see QuotaReader.
  Quota& quota(const std::string& principal) { return quotas_.get(principal); }

  // Sets the source of callers with tokens of identity providers. Must be set before the first request.
  void set_identities(Identities& identities) { identities_.emplace(identities); }
  IdentityReader& identities() { return *identities_; }

  // Calls on this worker that belong to no session, so that they can be cancelled.
  server::RunningCalls& running() { return running_; }
  // Cancels the calls of some callers and gives them the reason.
  void end_calls(const std::function<bool(const server::Caller&)>& whose, const std::string& why);

  // Sets the vault with callers' credentials for upstreams. Must be set before the first request.
  void set_vault(Vault& vault) { vault_ = &vault; }
  // Returns a caller's own credentials for an upstream. Returns null if the upstream does not take callers' own
  // credentials, and for anonymous callers. `authorization` is the caller's header field.
  std::shared_ptr<GrantAuthorizer> authorizer_for(const ServedUpstream& upstream, const server::Caller& caller,
                                                  std::string_view authorization = {});

  // Whether a caller has no usable grant for the upstream, and only a person can get one.
  bool must_sign_in(const ServedUpstream& upstream, const server::Caller& caller) const;

  SharedRequests& shared_requests() { return shared_requests_; }

  // Returns the connection that all callers of a modern upstream share, which keeps nothing for them.
  CallerConnection shared_connection(const ServedUpstream& upstream);
  // Returns the session that all requests of a principal without a client session share at a legacy upstream.
  std::shared_ptr<UpstreamSession> upstream_session_of(const ServedUpstream& upstream, const std::string& principal);
  // Returns a session without any request yet, for a single call of an anonymous caller. The session ends with its last
  // holder. Prepares another one in the background, so that the next call need not wait; but not if this call and that
  // session together would end another caller's program.
  std::shared_ptr<UpstreamSession> fresh_upstream_session(const ServedUpstream& upstream);
  // Gives up a principal's session, so that the next request opens another one. Running requests continue.
  void give_up(const ServedUpstream& upstream, const std::string& principal,
               const std::shared_ptr<UpstreamSession>& upstream_session);
  // Releases everything kept for a principal that will not return. Running requests continue.
  void forget(const std::string& principal);
  // Opens a connection that nobody else uses.
  CallerConnection connect(const ServedUpstream& upstream, client::Options options);
  // Sets what limits the programs of callers. Must be set before the first request.
  void set_programs(Programs& programs) { programs_ = &programs; }
  Programs& programs() { return *programs_; }
  // Returns when the program that has been idle longest was last used: of one upstream, or of all. A prepared one,
  // which nobody has used, counts as idle for ever. Returns nothing if none is idle.
  std::optional<Clock::Monotonic> longest_idle_program(std::optional<std::uint64_t> instance);
  // Ends the program that has been idle longest; returns false if none is idle.
  Task<bool> end_longest_idle_program(std::optional<std::uint64_t> instance);
  // Registers a session of this worker, so that it can stop listening when idle.
  void keep(const std::shared_ptr<UpstreamSession>& upstream_session);

  // Returns the home of a principal that listens; null if the principal does not listen.
  const Home* home_of(const std::string& principal) const;
  void set_home(const std::string& principal, std::optional<Home> home);
  // Sets the factory of observers for sessions of principals. Must be set before the first request.
  void set_observers(std::function<SessionObserver(const std::string& principal)> observers) {
    observers_ = std::move(observers);
  }
  void renew_upstream_sessions(const std::string& principal);
  std::shared_ptr<OwnLists> lists_of(const std::string& principal);

  // Runs a task that may outlive the request that started it.
  void run(std::string_view what, Task<> task) { left_behind_.spawn(what, std::move(task)); }

  Task<> close();

 private:
  std::shared_ptr<const catalog::View> view_with(const server::Caller& caller,
                                                 std::shared_ptr<const OwnLists::Snapshots> alone,
                                                 ViewFor purpose = ViewFor::use);
  void drop_unused_sessions(Clock::Monotonic time);
  std::shared_ptr<UpstreamSession> longest_idle_session(std::optional<std::uint64_t> instance);
  Clock::Monotonic idle_since(const std::shared_ptr<UpstreamSession>& upstream_session) const;
  std::shared_ptr<UpstreamSession> make_upstream_session(const ServedUpstream& upstream, client::Owner owner,
                                                         SessionObserver observer, const std::string& principal = {});
  // Like `authorizer_for`, for the caller with this principal's key.
  std::shared_ptr<GrantAuthorizer> authorizer_of(const ServedUpstream& upstream, const std::string& principal);
  // Prepares a session for the next call of an anonymous caller, if there is room for so many programs: its own, and
  // that of the call that is about to start.
  Task<> prepare_session(ServedUpstream upstream, std::size_t places);
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
  UpstreamTables::Pointer table_;  // the table for which connections were last checked
  TaskGroup left_behind_;
  TaskGroup closing_;
  std::unordered_map<std::uint64_t, CallerConnection> shared_;
  Programs* programs_ = nullptr;
  Vault* vault_ = nullptr;
  GrantSeekers seekers_;
  std::function<SessionObserver(const std::string& principal)> observers_;
  std::map<std::pair<std::string, std::uint64_t>, std::shared_ptr<UpstreamSession>> by_principal_;
  // One session for the next call of an anonymous caller, by upstream; null while it is being prepared.
  std::unordered_map<std::uint64_t, std::shared_ptr<UpstreamSession>> prepared_;
  std::vector<std::weak_ptr<UpstreamSession>> upstream_sessions_;
  std::unordered_map<std::string, Home> homes_;
  std::unordered_map<std::string, std::shared_ptr<OwnLists>> own_lists_;  // of principals whose home is here
  std::size_t open_ = 0;
  int give_back_ = 0;  // sweeps that still return memory, after many views were released
};

}  // namespace proteus::gateway
