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
#include "base/log/refusal_log.hpp"
#include "base/published.hpp"
#include "base/settings/environment.hpp"
#include "base/tasks/async_mutex.hpp"
#include "cluster/leases.hpp"
#include "gateway/bridge/parked_sessions.hpp"
#include "gateway/bridge/subscriptions.hpp"
#include "gateway/callers/access.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/connections/programs.hpp"
#include "gateway/connections/worker.hpp"
#include "gateway/core/fanout.hpp"
#include "gateway/core/followed_resources.hpp"
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
  server::HttpEndpointOptions endpoint;  // without authentication, admission and logs, which the gateway sets
  net::HttpClientOptions http;
  std::chrono::milliseconds debounce{200};
  client::Chance chance;  // random if empty
  // If several processes serve the same upstreams: the leases of those that this one watches. Null otherwise. Must
  // outlive the gateway.
  cluster::Leases* leases = nullptr;
};

// The gateway: upstreams that come and go behind one endpoint. To be constructed before the workers run. Its functions
// belong to the owner's thread, which is not a worker's, unless they are marked otherwise.
class Gateway {
 public:
  // All references must outlive it.
  Gateway(net::Workers& workers, const Clock& clock, Environment environment, store::Store& store, SealingKey key,
          GatewayOptions options);
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // Thread-safe. Replaces principals and contexts; tokens made at runtime stay. Callers that are no longer known are
  // rejected from the next request on, and what they have open ends. Clients whose lists differ in a changed context
  // are notified.
  void set_access(Access access);
  // Thread-safe. Replaces the tokens made at runtime. Ends nothing that is open.
  void set_tokens(std::shared_ptr<const IssuedTokens> tokens);
  // Thread-safe. Withdraws a principal and ends the streams that were opened with its token. Streams that were opened
  // with other tokens of the same key stay open.
  void end_streams_of(const Principal& principal);
  // Thread-safe. Ends what the principals with these keys have open (streams, legacy sessions, and calls, which are
  // answered with `why`), and drops what is kept for them. The keys must no longer be known.
  void end_callers(const std::unordered_set<std::string>& keys, const std::string& why);
  // Thread-safe. Like `end_callers`, for principals whose tokens have expired. If another token with the same key is
  // still valid, only the streams of the expired token end.
  void end_expired();
  // Thread-safe. Returns when the next token expires, of those that were not withdrawn; nothing if none expires.
  std::optional<Clock::Wall> next_expiry() const;
  // Thread-safe. Updates the contexts after the types of a dataset that they name may have changed.
  void renew_contexts();
  std::shared_ptr<const Access> access() const { return access_.get(); }
  // May be called on any thread. The threads for long computations.
  BackgroundThreads& background_threads() { return background_threads_; }

  // May be called on any thread. The grants of callers and of the gateway itself at upstreams that use OAuth.
  Vault& vault() { return *vault_; }
  OAuthServers& oauth_servers() { return *oauth_servers_; }

  // May be called on any thread. The identity providers that vouch for callers.
  Identities& identities() { return *identities_; }
  // Thread-safe. Replaces issuers and rules. If anything changed, ends what callers of identity providers have open.
  void set_identities(IdentitySettings settings);

  // To be called on a worker's thread. Identify the caller of a request to a context; the empty one is the plain
  // endpoint. Fail if the credentials are unknown, or if there is no such context for the caller. `admit_now` returns
  // nothing if it would have to wait.
  std::optional<server::Admission> admit_now(const net::Request& request, std::string_view context) const;
  Task<server::Admission> admit(const net::Request& request, std::string_view context) const;
  // To be called on a worker's thread. Counts a request of the caller. Fails if the caller has made too many within a
  // minute.
  Result<> admit_request(const server::Caller& caller);

  // Sets the providers that answer within the process. They come before all upstreams, which cannot have their names.
  // To be called before upstreams are set.
  void set_locals(Locals locals) { locals_ = std::move(locals); }
  // Thread-safe. Publishes what a local provider offers from now on. The versions of its snapshots must grow.
  Result<> publish_local(catalog::SnapshotPointer snapshot);

  // Adds a source of principals besides the configuration, which must be thread-safe. To be called before any request.
  using FindPrincipal =
      std::function<std::shared_ptr<const Principal>(std::string_view token, const json::Digest& hash)>;
  void add_find_principal(FindPrincipal find) { find_principal_.push_back(std::move(find)); }
  // Thread-safe. Returns the principal of a token that is valid now; null if there is none. Tokens of identity
  // providers are not known here.
  std::shared_ptr<const Principal> holder_of(std::string_view token) const;
  // Thread-safe. Whether a token is in the configuration or was made at runtime.
  bool knows_token(const json::Digest& token) const;
  // Thread-safe. Whether the configuration has a context.
  bool has_context(std::string_view name) const;

  using Settings = std::vector<providers::UpstreamSettings>;
  // The process that changed the upstreams. Only that process logs the change.
  enum class ChangedBy : std::uint8_t { this_process, another };
  // To be called on any worker's thread. Serves these upstreams, in this order, from now on: unchanged ones stay as
  // they are, changed ones are replaced, and those that are not named end. Connections are opened in the background.
  // Fails without effect if an upstream cannot be made.
  Task<Result<>> set_upstreams(Settings settings, ChangedBy by = ChangedBy::this_process);
  // To be called on the control thread. Waits until no change of the upstreams is under way; none begins while the lock
  // lives.
  Task<AsyncMutex::Lock> hold_upstreams() { return changes_.take(); }
  boost::asio::io_context& control() { return workers_.at(0); }
  // Thread-safe. Returns whether a call of the principal with this key is running.
  bool is_calling(const std::string& principal) const { return quotas_.is_calling(principal); }
  // Belongs to the control thread.
  auth::Fetch& control_fetch() { return *fetch_; }
  // Whether several processes serve the same upstreams.
  bool is_one_of_several() const { return options_.leases != nullptr; }
  // Thread-safe. Whether what other processes have revoked may have been missed for too long.
  bool is_blind() const { return options_.leases != nullptr && options_.leases->is_blind(); }
  // To be called on the control thread if several processes serve the same upstreams: another process stored what this
  // upstream listed. Serves it, unless this process watches the upstream.
  Task<Result<>> follow_lists(std::string upstream);
  // Like `follow_lists`, for decisions about what the upstream lists.
  Task<Result<>> follow_pins(std::string upstream);
  // Completes when each upstream was tried once. Fails if an upstream with `fail_fast_on_startup` did not answer.
  Task<Result<>> started();

  // To be called on any worker's thread. Handles one HTTP request to an MCP endpoint.
  Task<> handle(net::Exchange& exchange) { return endpoint_->handle(exchange); }
  // Like `handle`, for clients of the HTTP+SSE transport.
  Task<> handle_old_sse(net::Exchange& exchange) { return endpoint_->handle_old_sse(exchange); }
  server::HttpEndpoint& endpoint() { return *endpoint_; }

  GatewayService& service() { return *service_; }
  server::Listeners& listeners() { return listeners_; }
  const catalog::Catalog& catalog() const { return catalog_; }
  Fanout& fanout() { return fanout_; }
  std::shared_ptr<const UpstreamTable> upstreams() const { return tables_.get(); }
  const Clock& clock() const { return clock_; }
  // Thread-safe. Other components that reject requests report them here, too.
  RefusalLog& refusals() const { return refusals_; }

  using OnRefreshed = std::function<void(const providers::RefreshResult&, const catalog::Publication*)>;
  // To be called before upstreams are set. The callback runs on the threads of upstreams.
  void set_on_refreshed(OnRefreshed on_refreshed) { on_refreshed_ = std::move(on_refreshed); }
  using OnChanged = std::function<void(const catalog::Publication&)>;
  // To be called before upstreams are set. The callback runs on the control thread for changes by this process that no
  // refresh made: upstreams that left, replaced upstreams that serve what they had under other names, and local
  // providers.
  void set_on_changed(OnChanged on_changed) { on_changed_ = std::move(on_changed); }
  using MeterMaker = std::function<std::shared_ptr<UpstreamMeter>(const providers::UpstreamSettings&)>;
  // To be called before upstreams are set. Called on the control thread for each upstream that is made.
  void set_meters(MeterMaker meters) { meters_ = std::move(meters); }

  // Thread-safe; to be called every few seconds. Ends the sessions of clients that have been idle for too long, and
  // drops what workers have not used since `time`: views of sessions that ended, programs that run for nobody, and
  // unused sessions with upstreams.
  void drop_unused_since(Clock::Monotonic time);
  // Sets a callback that `drop_unused_since` calls with the time, to end what others keep open with expired
  // credentials. To be called before anything is served.
  void set_on_expiry(std::function<void(Clock::Wall now)> on_expiry) { on_expiry_ = std::move(on_expiry); }
  // Thread-safe. Drops what workers keep for a principal that will not come back, including its sessions with
  // upstreams.
  void forget(const std::string& principal);
  // Ends all streams. Requests are still answered.
  void end_streams();
  // Ends everything. The workers must still run, and no more requests may come.
  void stop();

 private:
  using Kept = std::map<std::string, std::vector<store::SnapshotRecord>, std::less<>>;  // by upstream

  void change_access(const std::shared_ptr<const Access>& access);
  // Ends what callers have open whose rights are no longer the same.
  void end_outdated(const std::shared_ptr<const Access>& access);
  std::shared_ptr<const Principal> holder_of(std::string_view token, const json::Digest& hash,
                                             const Access& access) const;
  server::Admission refuse(const net::Request& request, const char* why) const;
  server::Admission enter(const net::Request& request, std::shared_ptr<const Principal> principal,
                          std::string_view context) const;
  void end_calls(const server::Listeners::Concerns& whose, const std::string& why);
  // Drops what is kept for the principals with these keys, whose calls have ended. If a later principal has the key, it
  // begins anew.
  void forget_all(const std::unordered_set<std::string>& keys);
  Result<std::shared_ptr<void>> admit_stream(const server::Caller& caller);
  Result<ServedUpstream> make(const providers::UpstreamSettings& settings,
                              std::shared_ptr<providers::UpstreamPins> pins);
  Task<Result<std::shared_ptr<providers::UpstreamPins>>> pins_for(const providers::UpstreamSettings& settings,
                                                                  const ServedUpstream* known);
  Task<Result<>> change_upstreams(Settings settings, ChangedBy by);
  Task<Result<>> change_in_turn(Settings settings, ChangedBy by);
  // Determines which upstreams this process watches. Those in `fresh` have already taken over what is stored.
  Task<> share_watching(const std::vector<ServedUpstream>& fresh);
  void watch(const std::string& lease, bool held);
  // Takes over what is stored before the first reading, which is compared with it.
  Task<> begin_watching(std::string upstream);
  Task<> begin_watching_in_turn(ServedUpstream served);
  Task<Result<>> take_stored(ServedUpstream served);
  Task<> take_unread(std::string upstream);
  void end_sessions_of_gone(const std::vector<store::MemberRecord>& members);
  Task<Result<std::shared_ptr<void>>> lead(std::string upstream, std::uint64_t instance);
  Task<Result<std::shared_ptr<void>>> take_lead(std::string upstream, std::uint64_t instance);
  bool is_busy(const std::string& upstream) const;
  static bool is_shared(const providers::UpstreamSettings& settings);
  Task<> retire(ServedUpstream served);
  // Whether an upstream's lists can only be read with the grant of a caller.
  bool waits_for_callers(const providers::UpstreamSettings& settings) const;
  void set_credentials(const providers::UpstreamSettings& settings, providers::UpstreamDependencies& around) const;
  // Replaces upstreams whose lists must be read differently since the gateway got or lost its own grant there.
  Task<> renew_upstreams();
  std::optional<store::Fence> fence_of(const std::string& upstream) const;
  void keep_soon(const std::string& upstream);
  // Stores an upstream's lists until the store has the newest.
  Task<> keep(std::string upstream);
  Task<> look_who_watches(ServedUpstream served);
  void read_again(ServedUpstream served);
  Task<Kept> kept_lists(const std::vector<ServedUpstream>& upstreams);
  Task<std::optional<catalog::Publication>> take_over(ServedUpstream served,
                                                      std::shared_ptr<const UpstreamTable> before, Kept& kept);
  void announce(const catalog::Publication& publication, ChangedBy by);
  void follow(const std::string& uri, bool followed);
  void follow_at(const std::string& uri, const catalog::UpstreamName& upstream);
  // These three run on the control thread.
  void share_followed_soon();
  void share_followed();
  // To be called when lists of resources have changed.
  void look_for_followed();
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
  std::vector<std::unique_ptr<Worker>> parts_;  // one for each thread
  std::unique_ptr<Identities> identities_;
  std::unique_ptr<auth::HttpFetch> fetch_;  // belongs to the control thread
  std::unique_ptr<OAuthServers> oauth_servers_;
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
  // Limits how many programs start at a time: about one per core, because starting programs compute a lot; at least
  // four, because some wait for other things than a core.
  std::shared_ptr<client::StartPlaces> start_places_ =
      std::make_shared<client::StartPlaces>(std::max(4U, std::thread::hardware_concurrency()));
  // Two, so that the long lists of one upstream do not delay those of all others. Declared after everything that their
  // work uses.
  BackgroundThreads background_threads_{2};
  BackgroundThreads answer_threads_{std::clamp(std::thread::hardware_concurrency(), 2U, 8U)};

  // These members belong to the control thread.
  AsyncMutex changes_;
  std::uint64_t last_instance_ = 0;
  bool vault_loaded_ = false;
  bool stopping_ = false;
  std::set<std::string> unkept_;                   // upstreams whose latest lists the store lacks
  std::set<std::string> keeping_;                  // upstreams whose lists are being stored
  std::set<std::string> unread_;                   // upstreams whose stored lists could not be read
  std::map<std::string, std::size_t> refreshing_;  // readings of shared upstreams under way
  std::set<std::string> gone_;                     // processes that counted as gone when members were last read
  bool ended_left_ = false;                        // set by the first change: left sessions are being ended
  FollowedResources followed_;
  bool sharing_followed_ = false;  // `share_followed` is posted
  bool look_ = false;              // `share_followed` must look for the upstreams that list what is followed
};

}  // namespace proteus::gateway
