#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include <proteus/error.hpp>

#include "auth/fetch/http_fetch.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/published.hpp"
#include "base/refusal_log.hpp"
#include "cluster/leases.hpp"
#include "gateway/bridge/parked_sessions.hpp"
#include "gateway/bridge/subscriptions.hpp"
#include "gateway/callers/access.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/connections/programs.hpp"
#include "gateway/connections/worker.hpp"
#include "gateway/core/async_mutex.hpp"
#include "gateway/core/fanout.hpp"
#include "gateway/grants/oauth_servers.hpp"
#include "gateway/grants/vault.hpp"
#include "gateway/identity/identities.hpp"
#include "gateway/request/service.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "net/io/workers.hpp"
#include "server/http/http_endpoint.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

struct GatewayOptions {
  ServiceOptions service;
  providers::UpstreamLimits upstreams;
  QuotaLimits quotas;
  ProgramLimits programs;
  server::HttpEndpointOptions endpoint;  // apart from who authenticates
  net::HttpClientOptions http;
  std::chrono::milliseconds debounce{200};
  client::Chance chance;  // a random one where not given
  // Where several processes serve the same upstreams: which of them this one watches. Outlives the gateway.
  cluster::Leases* leases = nullptr;
};

// The gateway: upstreams that come and go behind one endpoint. Made before the workers run. Where nothing else is said
// a function belongs to the owner's thread, which is no worker.
class Gateway {
 public:
  // Everything given outlives it.
  Gateway(net::Workers& workers, const Clock& clock, Environment environment, store::Store& store, SealingKey key,
          GatewayOptions options);
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // From any thread. Callers that are no longer known are refused from the next request on, and what they have open
  // ends; those whose lists are others by their context are told. Tokens that were made at runtime stay.
  void set_access(Access access);
  // From any thread: those tokens from now on. Ends nothing by itself.
  void set_tokens(std::shared_ptr<const IssuedTokens> tokens);
  // From any thread. Ends the streams that were opened with this principal's token, and with no other of its key.
  void end_streams_of(const Principal& principal);
  // From any thread. Whoever has one of these keys is not known any more: ends what they have open (streams, legacy
  // sessions, and calls, which are answered with `why`), and forgets what is kept for them.
  void end_callers(const std::unordered_set<std::string>& keys, const std::string& why);
  // From any thread: the same for those whose tokens have expired. Where another token makes its holder somebody of the
  // same key, sessions and calls go on.
  void end_expired();
  // When the next token expires that is still good; nothing where none does.
  std::optional<Clock::Wall> next_expiry() const;
  // From any thread: the types of a dataset that contexts name may be others now.
  void renew_contexts();
  std::shared_ptr<const Access> access() const { return access_.get(); }
  // From any thread: where long computing belongs.
  BackgroundThreads& background_threads() { return background_threads_; }

  // From any thread: the grants of callers, and the gateway's own, at upstreams that speak OAuth.
  Vault& vault() { return *vault_; }
  OauthServers& oauth_servers() { return *oauth_servers_; }

  // From any thread: the identity providers that vouch for callers.
  Identities& identities() { return *identities_; }
  // The same where issuers and rules are to be others.
  void set_identities(IdentitySettings settings);

  // On a worker's thread: who sends a request to this context, the empty one being the plain endpoint. Fails where
  // nobody is known by its credentials, and where there is no such context for them. The first says nothing where it
  // would have to wait.
  std::optional<server::Admission> admit_now(const net::Request& request, std::string_view context) const;
  Task<server::Admission> admit(const net::Request& request, std::string_view context) const;
  // On a worker's thread: whether the caller may ask once more within this minute.
  Result<> admit_request(const server::Caller& caller);

  // Who answers within the process, in front of all upstreams, whose names cannot be theirs. Before upstreams are set.
  void set_locals(Locals locals) { locals_ = std::move(locals); }
  // From any thread: what one of them offers from now on. The versions of its snapshots grow.
  Result<> publish_local(catalog::SnapshotPointer snapshot);

  // Who knows tokens besides the configuration. Before anything is asked; called on the workers' threads.
  using FindPrincipal = std::function<std::shared_ptr<const Principal>(const json::Digest& token)>;
  void add_find_principal(FindPrincipal find) { find_principal_.push_back(std::move(find)); }
  // From any thread: who has this token of ours, and may use it now; null for nobody. Those of identity providers are
  // not among them.
  std::shared_ptr<const Principal> holder_of(std::string_view token) const;
  // From any thread: whether a token is one of the configuration, or was made at runtime.
  bool knows_token(const json::Digest& token) const;
  // From any thread: whether a context is one of the configuration.
  bool has_context(std::string_view name) const;

  using Settings = std::vector<providers::UpstreamSettings>;
  // Who changed the upstreams: that one logs what it changed.
  enum class ChangedBy : std::uint8_t { this_process, another };
  // On any worker's thread. These upstreams, in this order, from now on: those that are the same stay as they are,
  // others are made anew, and those not named end. Opens no connection by itself. Fails, without effect, where one
  // cannot be made.
  Task<Result<>> set_upstreams(Settings settings, ChangedBy by = ChangedBy::this_process);
  // On the control thread: the upstreams are these until the end of the turn, and whoever makes others has not begun.
  Task<AsyncMutex::Lock> hold_upstreams() { return changes_.take(); }
  boost::asio::io_context& control() { return workers_.at(0); }
  // Of the control thread.
  auth::Fetch& control_fetch() { return *fetch_; }
  // Whether several processes serve the same.
  bool is_one_of_several() const { return options_.leases != nullptr; }
  // On the control thread, where several processes serve the same: another one stored what this upstream listed.
  Task<Result<>> follow_lists(std::string upstream);
  // The same for decisions about what it lists.
  Task<Result<>> follow_pins(std::string upstream);
  // Completes when each upstream was tried once; fails where one that must be there at the start is not.
  Task<Result<>> started();

  // On any worker's thread: one HTTP request to an MCP endpoint.
  Task<> handle(net::Exchange& exchange) { return endpoint_->handle(exchange); }
  // The same for clients of the HTTP+SSE transport.
  Task<> handle_old_sse(net::Exchange& exchange) { return endpoint_->handle_old_sse(exchange); }
  server::HttpEndpoint& endpoint() { return *endpoint_; }

  GatewayService& service() { return *service_; }
  server::Listeners& listeners() { return listeners_; }
  const catalog::Catalog& catalog() const { return catalog_; }
  Fanout& fanout() { return fanout_; }
  std::shared_ptr<const UpstreamTable> upstreams() const { return tables_.get(); }
  const Clock& clock() const { return clock_; }
  // Thread-safe. Whoever else turns requests away reports it here, too.
  RefusalLog& refusals() const { return refusals_; }

  using OnRefreshed = std::function<void(const providers::RefreshResult&, const catalog::Publication*)>;
  // Before upstreams are set. Called on the threads of upstreams.
  void set_on_refreshed(OnRefreshed on_refreshed) { on_refreshed_ = std::move(on_refreshed); }
  using OnChanged = std::function<void(const catalog::Publication&)>;
  // Before upstreams are set. Called on the control thread for changes that no refresh made: upstreams that left, or
  // that were made anew and serve what they had under other names.
  void set_on_changed(OnChanged on_changed) { on_changed_ = std::move(on_changed); }
  using MeterMaker = std::function<std::shared_ptr<UpstreamMeter>(const providers::UpstreamSettings&)>;
  // Before upstreams are set. Called on the control thread for each upstream that is made.
  void set_meters(MeterMaker meters) { meters_ = std::move(meters); }

  // From any thread, every few seconds: ends the sessions of clients that have been idle for too long, and lets workers
  // forget what nobody has asked for lately, such as the views of sessions that ended, programs that run for nobody,
  // and sessions with upstreams that nobody uses.
  void drop_unused_since(Clock::Monotonic time);
  // Told of the time as often, for what others keep open by credentials that end. Before anything is served.
  void set_on_expiry(std::function<void(Clock::Wall now)> on_expiry) { on_expiry_ = std::move(on_expiry); }
  // From any thread: whoever had this key is gone for good, and so are its sessions with upstreams.
  void forget(const std::string& principal);
  // Ends all streams; requests are still answered.
  void end_streams();
  // Ends everything. The workers run, and nothing is asked any more.
  void stop();

 private:
  using Kept = std::map<std::string, std::vector<store::SnapshotRecord>, std::less<>>;  // by upstream

  void change_access(const std::shared_ptr<const Access>& access);
  // Ends what those have open who are no longer let in as they were.
  void end_outdated(const std::shared_ptr<const Access>& access);
  std::shared_ptr<const Principal> holder_of(const json::Digest& token, const Access& access) const;
  server::Admission refuse(const net::Request& request, const char* why) const;
  server::Admission enter(const net::Request& request, std::shared_ptr<const Principal> principal,
                          std::string_view context) const;
  void end_calls(const server::Listeners::Concerns& whose, const std::string& why);
  Result<std::shared_ptr<void>> admit_stream(const server::Caller& caller);
  Result<ServedUpstream> make(const providers::UpstreamSettings& settings,
                              std::shared_ptr<providers::UpstreamPins> pins);
  Task<Result<std::shared_ptr<providers::UpstreamPins>>> pins_for(const providers::UpstreamSettings& settings);
  Task<Result<>> change_upstreams(Settings settings, ChangedBy by);
  Task<Result<>> change_in_turn(Settings settings, ChangedBy by);
  // Which of them this process watches. Those that are made anew have taken over what is stored.
  Task<> share_watching(const std::vector<ServedUpstream>& fresh);
  void watch(const std::string& lease, bool held);
  // Knows what is stored before it reads anything else, which is what it compares with.
  Task<> begin_watching(std::string upstream);
  Task<> begin_watching_in_turn(ServedUpstream served);
  Task<Result<>> take_stored(ServedUpstream served);
  void end_sessions_of_gone(const std::vector<store::MemberRecord>& members);
  Task<Result<std::shared_ptr<void>>> lead(std::string upstream, std::uint64_t instance);
  Task<Result<std::shared_ptr<void>>> take_lead(std::string upstream, std::uint64_t instance);
  bool is_busy(const std::string& upstream) const;
  static bool is_shared(const providers::UpstreamSettings& settings);
  Task<> retire(ServedUpstream served);
  // Whether what an upstream lists can only be seen as one of its users.
  bool waits_for_callers(const providers::UpstreamSettings& settings) const;
  void set_credentials(const providers::UpstreamSettings& settings, providers::UpstreamDependencies& around) const;
  // The gateway got or lost a grant of its own at an upstream that callers have theirs at.
  Task<> renew_upstreams();
  std::optional<store::Fence> fence_of(const std::string& upstream) const;
  void keep_soon(const std::string& upstream);
  // Until the store has the newest.
  Task<> keep(std::string upstream);
  Task<> look_who_watches(ServedUpstream served);
  void read_again(ServedUpstream served);
  Task<Kept> kept_lists(const std::vector<ServedUpstream>& upstreams);
  Task<std::optional<catalog::Publication>> take_over(ServedUpstream served, Kept& kept);
  void announce(const catalog::Publication& publication, ChangedBy by);
  void follow(const std::string& uri, bool followed);
  void follow_at(const std::string& uri, const catalog::UpstreamName& upstream);
  void share_followed_soon();
  void share_followed();
  net::HttpClient& http_of(boost::asio::io_context& io);

  net::Workers& workers_;
  const Clock& clock_;
  const Environment environment_;
  store::Store& store_;
  const GatewayOptions options_;

  mutable RefusalLog refusals_;
  server::Listeners listeners_;
  catalog::Catalog catalog_;
  UpstreamTables tables_;
  Published<Access> access_;
  std::mutex setting_access_;
  std::vector<FindPrincipal> find_principal_;
  Locals locals_;
  QuotaTable quotas_;
  Programs programs_;
  std::vector<std::unique_ptr<Worker>> parts_;  // one for each worker
  std::unique_ptr<Identities> identities_;
  std::unique_ptr<auth::HttpFetch> fetch_;  // of the control thread
  std::unique_ptr<OauthServers> oauth_servers_;
  std::unique_ptr<Vault> vault_;
  Fanout fanout_;
  std::unique_ptr<Subscriptions> subscriptions_;
  ParkedSessions parked_sessions_;
  std::unique_ptr<GatewayService> service_;
  std::unique_ptr<server::HttpEndpoint> endpoint_;
  OnRefreshed on_refreshed_;
  std::function<void(Clock::Wall now)> on_expiry_;
  OnChanged on_changed_;
  MeterMaker meters_;
  TaskGroup background_;  // on the control thread
  // Of programs, which are busy with themselves then; some wait for other things than a core.
  std::shared_ptr<client::StartPlaces> start_places_ =
      std::make_shared<client::StartPlaces>(std::max(4U, std::thread::hardware_concurrency()));
  // Two, so that one upstream's long lists do not keep all others' waiting. Behind all that its work uses.
  BackgroundThreads background_threads_{2};
  BackgroundThreads answer_threads_{std::clamp(std::thread::hardware_concurrency(), 2U, 8U)};

  // Of the control thread.
  AsyncMutex changes_;
  std::uint64_t last_instance_ = 0;
  bool vault_loaded_ = false;
  std::set<std::string> unkept_;                   // upstreams whose lists the store does not have
  std::set<std::string> keeping_;                  // upstreams whose lists are on their way there
  std::map<std::string, std::size_t> refreshing_;  // upstreams that are being read for somebody, and for how many
  std::set<std::string> gone_;                     // processes that were away for too long when it was last looked
  bool ended_left_ = false;                        // what an earlier process left at upstreams was looked for
  // Resources that somebody follows, and the upstreams to which that was routed.
  std::map<std::string, std::set<catalog::UpstreamName>> followed_;
  bool sharing_followed_ = false;     // soon
  std::set<std::string> follows_at_;  // upstreams at which it follows any
};

}  // namespace proteus::gateway
