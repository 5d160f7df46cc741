#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/tasks/async_mutex.hpp"
#include "base/tasks/background_threads.hpp"
#include "base/tasks/task_group.hpp"
#include "catalog/view/catalog.hpp"
#include "client/connection/refresher.hpp"
#include "net/http_client/http_client.hpp"
#include "providers/legacy_side.hpp"
#include "providers/offer.hpp"
#include "providers/refresh_result.hpp"
#include "providers/upstream_pins.hpp"
#include "providers/upstream_settings.hpp"
#include "providers/upstream_status.hpp"
#include "store/records.hpp"

namespace proteus::providers {

// Returns the rules that turn an upstream's names into those that clients see.
catalog::NameRules name_rules(const UpstreamSettings& settings);

struct UpstreamLimits {
  client::ListLimits lists;
  catalog::ListLimits definitions;
  std::chrono::milliseconds debounce{200};
  std::chrono::milliseconds first_retry{500};
  std::chrono::milliseconds last_retry{60'000};
  bool shared = false;  // other processes could take over sessions of this one
};

// What an upstream needs. All of it must outlive the upstream. The functions may be called at any time, on the
// upstream's thread unless they say otherwise.
struct UpstreamDependencies {
  boost::asio::io_context& io;  // its thread is that of the upstream
  net::HttpClient& http;        // belongs to that thread
  const Clock& clock;
  const Environment& environment;
  client::Chance chance;
  UpstreamLimits limits;
  std::string client_info;
  // Snapshots get versions above this one: an earlier upstream of the same name published the versions up to here.
  std::uint64_t published_version = 0;
  // The decisions about the definitions, if only what a person ratified is served; null otherwise.
  std::shared_ptr<UpstreamPins> pins = {};

  // The gateway's own credentials, if they come and go; may be null.
  std::shared_ptr<client::Authorizer> authorizer = {};
  // Whether each caller has their own credentials and the gateway has none: lists are then read only for a caller, with
  // the caller's credentials.
  bool waits_for_callers = false;

  // Whether several processes serve the upstream, of which one watches it; see `set_leading`.
  bool shared = false;
  // For a shared upstream: makes this process watch it, after this process has learned what the one before has stored.
  // This process keeps watching while the result is kept, and until what was read meanwhile is stored, unless another
  // process takes over.
  std::function<Task<Result<std::shared_ptr<void>>>()> lead = {};
  // For a shared upstream: returns the fence by which this process may store what it begins to read now; nothing if
  // another process watches.
  std::function<std::optional<store::Fence>()> fence = {};

  // Where a program waits for its turn to start; may be null.
  std::shared_ptr<client::StartPlaces> start_places = {};

  // Parses and compares definitions, which may take long.
  BackgroundThreads& background;
  // Reads long answers to callers. Separate from `background`, so that lists do not delay answers.
  BackgroundThreads& answers;
  // Publishes a snapshot. Called on the upstream's thread or on one of `background`.
  std::function<Result<catalog::Publication>(catalog::SnapshotPointer)> publish;
  // Called after each refresh, including one that failed; the publication is null if nothing was published.
  std::function<void(const RefreshResult&, const catalog::Publication*)> on_refreshed;
  // Called when the stored lists are out of date; `lists_to_keep` returns the new ones.
  std::function<void()> keep;
  std::function<void(const std::string& uri)> on_resource_updated;
  // Called for an upstream that is listed live: lists that callers received may have changed.
  std::function<void(catalog::KindSet kinds)> on_lists_changed = {};
};

// One upstream as the gateway knows it: its control connection, its offer and its state. Reads its lists by all refresh
// strategies. Calls for clients run elsewhere, on their own connections.
//
// Belongs to the thread of its context, except for functions that are marked thread-safe. `close` must have ended
// before the upstream is destroyed.
class Upstream {
 public:
  // Opens no connection. Fails if the settings cannot be used, for example if a secret is not in the environment.
  static Result<std::unique_ptr<Upstream>> make(UpstreamSettings settings, UpstreamDependencies dependencies);
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  const UpstreamSettings& settings() const { return settings_; }
  const catalog::UpstreamName& name() const { return name_; }
  const catalog::NameRules& rules() const { return rules_; }
  // Returns null if the upstream is not pinned.
  const std::shared_ptr<UpstreamPins>& pins() const { return dependencies_.pins; }
  // Thread-safe. Returns the scopes that the upstream's entries require of a caller's token; null for none.
  const std::shared_ptr<const catalog::RequiredScopes>& required_scopes() const { return required_scopes_; }
  // Thread-safe. Whether callers see or call tools differently from how the upstream lists them.
  bool shapes_tools() const { return shape_ && !shape_->is_plain(); }
  // Thread-safe. Returns what may be shown of a list that a caller received: the shaped tools, and only what is
  // ratified if the upstream is pinned. `bytes` owns the texts.
  Task<Result<catalog::DefinitionList::Pointer>> read_list(catalog::Kind kind, std::shared_ptr<const void> bytes,
                                                           std::vector<std::string_view> texts) const;
  // Like the other `read_list`, for a JSON array of definitions.
  Task<Result<catalog::DefinitionList::Pointer>> read_list(catalog::Kind kind, std::shared_ptr<const void> bytes,
                                                           std::string_view array) const;
  // A definition that a person may ratify.
  struct Proposed {
    catalog::Kind kind;
    std::string own;
    std::string text;
  };
  // Thread-safe. Returns the present offer as it would be served under other settings, and with one more definition
  // ratified. Returns null if nothing would be served, or if the offer is not known.
  Task<Result<catalog::SnapshotPointer>> imagine(UpstreamSettings other, std::optional<Proposed> ratified = {});
  // Thread-safe. Returns threads for other work on the upstream's definitions.
  BackgroundThreads& background() const { return dependencies_.background; }
  boost::asio::io_context& io() const { return dependencies_.io; }
  // Thread-safe. Notes whether an upstream that is listed live knew the list method when it was last asked.
  void answered_live(catalog::Kind kind, bool implemented);
  bool is_direct() const {
    return settings_.refresh_strategy == RefreshStrategy::direct_proxy || dependencies_.waits_for_callers;
  }
  // Whether requests for callers carry the callers' own credentials.
  bool is_per_caller() const { return settings_.authentication.is_per_caller(); }
  // See providers::oauth_target; empty unless the authentication is of the type `oauth`.
  const std::string& oauth_target() const { return oauth_target_; }
  // Whether the upstream is known only from what callers' connections find out.
  bool waits_for_callers() const { return dependencies_.waits_for_callers; }
  // Thread-safe. Takes over what a connection for callers found out about the server, if the server has changed its
  // era, or if nothing is known because the upstream waits for callers. Returns whether it did so; `look_again` must
  // follow.
  bool learn(const client::ServerFacts& facts);
  // Finds out whether the server is of this era, and reads the lists, if the upstream has a connection of its own.
  void look_again(mcp::Era era) { refresher_.look_again(era); }

  // Serves what an earlier run or another process stored, until the upstream answers. Returns what that changed.
  Task<std::optional<catalog::Publication>> restore(std::vector<store::SnapshotRecord> records);
  // What the upstream lists now in the form that `restore` takes, to be served after a restart until the upstream
  // answers; and the fence by which they were read.
  struct ToKeep {
    std::vector<store::SnapshotRecord> records;  // empty if unknown, or if another process stores them
    std::optional<store::Fence> fence;
  };
  Task<ToKeep> lists_to_keep();
  // What the upstream listed when it was last read or restored, in the same form; empty if unknown. For the upstream
  // that replaces this one.
  Task<std::vector<store::SnapshotRecord>> lists_now();
  // Thread-safe. Notes that the store does not have the last lists: the next reading is kept, whatever it finds.
  void forget_kept() { is_forgotten_ = true; }
  bool is_forgotten() const { return is_forgotten_; }
  // Connects in the background and stays connected, unless the upstream waits for callers or is watched elsewhere.
  void start();
  // Thread-safe. Sets whether this process, of several that serve the upstream, watches it from now on.
  void set_leading(bool leading);
  // Thread-safe. Whether this process reads the lists. If another one does, `restore` takes over what that one stored.
  bool reads_lists() const { return !dependencies_.shared || leads_; }
  // Thread-safe. Whether this process stays connected: it reads the lists, or its clients follow resources.
  bool is_watched() const { return reads_lists() || follows_; }
  // Returns how the first try ended: with an error if the upstream was closed before, with success if this process does
  // not read the lists.
  Task<Result<>> first_try();
  // Ends everything under way. Coroutines that wait for a reading or for the first try get the error `cancelled`.
  Task<> close();

  // Thread-safe. Reads the lists now and returns what changed. Concurrent callers share one reading, which began after
  // each of them called.
  Task<RefreshResult> refresh();
  // Thread-safe. Whether the lists are too old to use, by the settings.
  bool is_expired() const { return is_watched() && refresher_.is_stale(); }
  // Thread-safe. Refreshes expired lists; concurrent callers share one reading. A failure leaves the lists as they are.
  Task<> freshen();

  // Thread-safe. Returns what the server last said about itself; null before it first answered.
  std::shared_ptr<const client::ServerFacts> facts() const { return refresher_.facts(); }
  // Thread-safe. Whether the server is known to be modern: a plain flag, for frequent use.
  bool is_modern() const { return refresher_.is_modern(); }
  // Thread-safe. Returns what a modern server that speaks both eras offers legacy clients; null if it does not, or if
  // that is not known yet. Looked up again when the lists have changed.
  std::shared_ptr<const LegacySide> legacy_side() const;
  // Thread-safe. Forgets the legacy side, because the server no longer answers in that era.
  void forget_legacy_side();
  UpstreamStatus status() const;
  client::CircuitBreaker& breaker() { return breaker_; }
  // Returns the log for lines that the upstream causes.
  StrangerLog& log() const { return *log_; }
  // Thread-safe. Return options and endpoint for further connections to the same server, which start with what is
  // already known of it.
  client::Options options() const;
  const client::Endpoint& endpoint() const { return endpoint_; }

  // Returns the connection over which the lists are read; to be used only on the upstream's thread.
  client::Connection& control() { return refresher_.connection(); }

  // Thread-safe. Returns a number that changes with each report that lists which callers received have changed.
  std::uint64_t lists_version() const { return lists_version_.load(std::memory_order_acquire); }
  void lists_changed() { lists_version_.fetch_add(1, std::memory_order_acq_rel); }
  // Thread-safe. Returns true the first time only: the log says once that calls have their own sessions.
  bool is_first_call_apart() { return !calls_apart_.exchange(true); }

  // Thread-safe. Sets all single resources whose updates are wanted. A legacy server is not asked for updates here,
  // because it notifies each of its sessions separately.
  void follow(std::set<std::string> uris);
  // Thread-safe. Waits until a modern server was asked for updates of a followed resource, and fails if the server does
  // not announce them.
  Task<Result<>> tells_of(std::string uri);
  // Thread-safe. Handles an announcement that another connection or process received: reads the lists soon, as if the
  // announcement had arrived here. Returns when they were read.
  Task<> announced();

 private:
  Upstream(UpstreamSettings settings, UpstreamDependencies dependencies, client::Endpoint endpoint,
           std::vector<client::Header> credentials);

  client::RefreshPolicy policy() const;
  client::Refresher::Dependencies refreshing();
  client::Options basic_options() const;
  client::Options control_options() const;
  Task<Result<client::Gathered>> read();
  Task<Result<Offer>> make_offer(std::shared_ptr<const client::AllLists> read);
  void end_in_background(Offer& offer) const;
  Task<Offer> offer_now() { co_return offer_; }
  // `said`: what the server says about itself; null if it has said nothing.
  OfferMaker offer_maker(const std::shared_ptr<const client::ServerFacts>& said) const;
  Task<Result<catalog::Publication>> publish(catalog::SnapshotPointer snapshot);
  Task<Result<catalog::Change>> take_over(Offer offer, std::optional<store::Fence> fence);
  void report_pins();
  void report_shaping();
  bool may_have_legacy_side() const;
  // Looks up the legacy side, several times if necessary.
  Task<> look_at_legacy_side();
  Task<Result<std::shared_ptr<const LegacySide>>> look_once();
  void note_legacy_side(std::shared_ptr<const LegacySide> side);
  RefreshResult result_of(const client::Reading& reading) const;
  void watch_as_told();
  void note_offer();
  void learn_from(const std::vector<store::SnapshotRecord>& records);

  const UpstreamSettings settings_;
  const catalog::UpstreamName name_;
  UpstreamDependencies dependencies_;
  const client::Endpoint endpoint_;
  const std::vector<client::Header> credentials_;
  const std::string oauth_target_;
  const catalog::NameRules rules_;
  const std::shared_ptr<const catalog::RequiredScopes> required_scopes_;
  const std::shared_ptr<const catalog::Shape> shape_;  // null if no `tools` are configured
  const std::shared_ptr<StrangerLog> log_;
  const std::shared_ptr<StrangerLog> printed_;  // for the standard error of a program
  client::CircuitBreaker breaker_;

  std::uint64_t version_ = 0;
  bool has_read_ = false;                // a reading was taken over
  Offer offer_;                          // the one read or restored last
  AsyncMutex offering_;                  // held to make an offer, publish it under the next version, and take it over
  std::optional<store::Fence> read_by_;  // of a shared upstream, if this process read the offer
  std::atomic<bool> is_forgotten_ = false;
  UpstreamPins::Counts reported_;
  std::optional<catalog::Publication> published_;  // by the current reading

  bool started_ = false;               // whether the refresher was started
  std::atomic<bool> leads_ = false;    // whether this process has the lease, if the upstream is shared
  std::atomic<bool> follows_ = false;  // whether clients of this process follow resources
  std::atomic<std::uint64_t> lists_version_ = 0;
  catalog::PerKind<std::atomic<bool>> unimplemented_;  // when last listed live
  std::atomic<bool> calls_apart_ = false;

  mutable std::mutex mutex_;
  UpstreamStatus status_;  // without the state, which the refresher knows
  std::shared_ptr<const LegacySide> legacy_side_;
  std::atomic<bool> has_legacy_side_ = false;
  std::shared_ptr<const client::ServerFacts> looked_at_;  // the facts for which the legacy side was last looked up
  bool looking_ = false;
  TaskGroup looks_;

  client::Refresher refresher_;
};

}  // namespace proteus::providers
