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

#include "base/background_threads.hpp"
#include "base/clock.hpp"
#include "base/task_group.hpp"
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

// How an upstream's names become those that clients see.
catalog::NameRules name_rules(const UpstreamSettings& settings);

struct UpstreamLimits {
  client::ListLimits lists;
  catalog::ListLimits definitions;
  std::chrono::milliseconds debounce{200};
  std::chrono::milliseconds first_retry{500};
  std::chrono::milliseconds last_retry{60'000};
  bool shared = false;  // with other processes, which could go on with sessions of this one
};

// What an upstream lives among. Everything outlives it. The functions may be called from its thread at any time.
struct UpstreamDependencies {
  boost::asio::io_context& io;  // whose thread it belongs to
  net::HttpClient& http;        // of that thread
  const Clock& clock;
  const Environment& environment;
  client::Chance chance;
  UpstreamLimits limits;
  std::string client_info;
  // Its snapshots have versions above this one: another one of the same name published those up to it.
  std::uint64_t published_version = 0;
  // What is decided about its definitions, where the settings say that only what a person ratified is served.
  std::shared_ptr<UpstreamPins> pins = {};

  // The gateway's own credentials where they come and go; may be empty.
  std::shared_ptr<client::Authorizer> authorizer = {};
  // Each caller has credentials of their own, and the gateway has none: its lists are read as the caller alone.
  bool waits_for_callers = false;

  // Several processes serve it, and one of them watches it. Whether this one does is said by `set_leading`.
  bool shared = false;
  // Where it is shared: makes this process the one, which knows by then what the one before has stored. It stays the
  // one for as long as what this gives is kept, and until what was read meanwhile is stored, unless another takes it.
  std::function<Task<Result<std::shared_ptr<void>>>()> lead = {};
  // Where it is shared: by what this process may store what it begins to read now; nothing where another one watches.
  std::function<std::optional<store::Fence>()> fence = {};

  // Where a program waits for its turn to start; may be empty.
  std::shared_ptr<client::StartPlaces> start_places = {};

  // Where definitions are parsed and compared, which may take long.
  BackgroundThreads& background;
  // Where long answers to callers are read: not there, so that no list delays them.
  BackgroundThreads& answers;
  // Called on a thread of those.
  std::function<Result<catalog::Publication>(catalog::SnapshotPointer)> publish;
  // After each refresh, also one that failed; with what was published where it changed something.
  std::function<void(const RefreshResult&, const catalog::Publication*)> on_refreshed;
  // Something else is listed than before: `lists_to_keep` has it.
  std::function<void()> keep;
  std::function<void(const std::string& uri)> on_resource_updated;
  // Of an upstream that is listed live: lists that callers were given may have changed.
  std::function<void(catalog::KindSet kinds)> on_lists_changed = {};
};

// One upstream as the gateway knows it: its control connection, what it offers, how it is. Discovers and refreshes by
// all strategies; calls for clients are made elsewhere, on connections of their own.
//
// Belongs to the thread of its context, apart from what is said to be thread-safe. `close` must have ended before it is
// destroyed.
class Upstream {
 public:
  // Opens nothing. Fails where the settings cannot be used, such as a secret that is not in the environment.
  static Result<std::unique_ptr<Upstream>> make(UpstreamSettings settings, UpstreamDependencies dependencies);
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  const UpstreamSettings& settings() const { return settings_; }
  const catalog::UpstreamName& name() const { return name_; }
  const catalog::NameRules& rules() const { return rules_; }
  // Null where it is not pinned.
  const std::shared_ptr<UpstreamPins>& pins() const { return dependencies_.pins; }
  // What its entries ask of a caller's token; null for nothing. Thread-safe.
  const std::shared_ptr<const catalog::RequiredScopes>& required_scopes() const { return required_scopes_; }
  // Whether its tools are shown or called otherwise than it lists them. Thread-safe.
  bool shapes_tools() const { return shape_ && !shape_->is_plain(); }
  // Thread-safe. What may be shown of a list that a caller was given: all of it, unless it is pinned. The texts lie in
  // `bytes`.
  Task<Result<catalog::DefinitionList::Pointer>> read_list(catalog::Kind kind, std::shared_ptr<const void> bytes,
                                                           std::vector<std::string_view> texts) const;
  // The same for the array of them.
  Task<Result<catalog::DefinitionList::Pointer>> read_list(catalog::Kind kind, std::shared_ptr<const void> bytes,
                                                           std::string_view array) const;
  // A definition that a person may ratify.
  struct Proposed {
    catalog::Kind kind;
    std::string own;
    std::string text;
  };
  // Thread-safe. What it offers now, as it would be served under other settings, and with something more ratified. Null
  // where that is nothing, or is not known.
  Task<Result<catalog::SnapshotPointer>> imagine(UpstreamSettings other, std::optional<Proposed> ratified = {});
  // Thread-safe. Where else to work on its definitions.
  BackgroundThreads& background() const { return dependencies_.background; }
  boost::asio::io_context& io() const { return dependencies_.io; }
  // Thread-safe. Of an upstream that is listed live: whether it knew the method when it was last asked for such a list.
  void answered_live(catalog::Kind kind, bool implemented);
  bool is_direct() const {
    return settings_.refresh_strategy == RefreshStrategy::direct_proxy || dependencies_.waits_for_callers;
  }
  // Whether requests for callers carry their own credentials.
  bool is_per_caller() const { return settings_.authentication.is_per_caller(); }
  // See providers::oauth_target; empty where it is not of that type.
  const std::string& oauth_target() const { return oauth_target_; }
  // Whether nothing is known of it but by what callers see.
  bool waits_for_callers() const { return dependencies_.waits_for_callers; }
  // Thread-safe. What a caller's connection found out about the server, where nobody else can.
  void learn(const client::ServerFacts& facts);

  // Serves what was kept from an earlier run, until the upstream answers. Says what that changed.
  Task<std::optional<catalog::Publication>> restore(std::vector<store::SnapshotRecord> records);
  // What it lists now, as `restore` takes it, to be served after a restart until the upstream answers; and what that
  // was read by.
  struct ToKeep {
    std::vector<store::SnapshotRecord> records;  // empty where that is not known, or another process stores it
    std::optional<store::Fence> fence;
  };
  Task<ToKeep> lists_to_keep();
  // Thread-safe. What it listed last is not in the store, or not any more: the next reading is kept, whatever it finds.
  void forget_kept() { is_forgotten_ = true; }
  bool is_forgotten() const { return is_forgotten_; }
  // Connects in the background, and stays connected; not where it waits for callers, or where another process watches
  // it.
  void start();
  // Thread-safe. Where several processes serve it: whether this one watches it from now on.
  void set_leading(bool leading);
  // Thread-safe. Whether its lists are read here. Where another process reads them, `restore` takes over what it
  // stored.
  bool is_watched() const { return !dependencies_.shared || leads_ || follows_; }
  // How the first try ended; an error where it was closed before.
  Task<Result<>> first_try();
  // Ends what it does. Whoever waits for a reading or for the first try is told that it is cancelled.
  Task<> close();

  // Thread-safe. Reads the lists now and says what changed; callers at the same time share one reading, which began
  // after each of them asked.
  Task<RefreshResult> refresh();
  // Thread-safe. Whether what is there has become too old to use, as the settings say.
  bool is_expired() const { return is_watched() && refresher_.is_stale(); }
  // Thread-safe. Refreshes where it is; callers at the same time share one reading. A failure leaves what is there.
  Task<> freshen();

  // Thread-safe. What the server last said about itself; empty before it ever answered.
  std::shared_ptr<const client::ServerFacts> facts() const { return refresher_.facts(); }
  // The same as a plain flag, for whoever asks often: whether it is known to be modern.
  bool is_modern() const { return refresher_.is_modern(); }
  // Thread-safe. What a modern server that speaks both eras offers legacy clients; null where it does not, or where
  // that is not known yet. Looked for when its lists have changed.
  std::shared_ptr<const LegacySide> legacy_side() const;
  // Thread-safe. It did not answer in that era any more.
  void forget_legacy_side();
  UpstreamStatus status() const;
  client::CircuitBreaker& breaker() { return breaker_; }
  // For what it makes us say.
  StrangerLog& log() const { return *log_; }
  // Thread-safe. Options and endpoint for further connections to the same server, which need not find out again what is
  // known of it.
  client::Options options() const;
  const client::Endpoint& endpoint() const { return endpoint_; }

  // The connection that it is discovered by; of its thread.
  client::Connection& control() { return refresher_.connection(); }

  // Thread-safe. Another number when lists that callers were given have changed, as far as anybody has said.
  std::uint64_t lists_version() const { return lists_version_.load(std::memory_order_acquire); }
  void lists_changed() { lists_version_.fetch_add(1, std::memory_order_acq_rel); }
  // Thread-safe. True once: whoever gives calls sessions of their own tells people so.
  bool is_first_call_apart() { return !calls_apart_.exchange(true); }

  // Thread-safe. Single resources whose updates are wanted, all of them. A legacy server is not asked for them here: it
  // tells each of its sessions apart.
  void follow(std::set<std::string> uris);
  // Thread-safe. Whether a modern server tells of updates of a resource that is followed; ends when it was asked.
  Task<Result<>> tells_of(std::string uri);
  // Thread-safe. Somebody was told elsewhere that lists are others: they are read soon, as if it had been told here.
  // Ends when they were.
  Task<> announced();

 private:
  Upstream(UpstreamSettings settings, UpstreamDependencies dependencies, client::Endpoint endpoint,
           std::vector<client::Header> credentials);

  client::RefreshPolicy policy() const;
  client::Refresher::Dependencies refreshing();
  client::Options basic_options() const;
  client::Options control_options() const;
  Task<Result<client::Gathered>> read();
  Task<Result<Offer>> read_lists();
  void end_in_background(Offer& offer) const;
  Task<Offer> offer_now() { co_return offer_; }
  // By what the server says of itself; null where it has said nothing.
  OfferMaker offer_maker(const std::shared_ptr<const client::ServerFacts>& said) const;
  Task<Result<catalog::Publication>> publish(catalog::SnapshotPointer snapshot);
  Task<Result<catalog::Change>> take_over(Offer offer, std::optional<store::Fence> fence);
  void report_pins();
  void report_shaping();
  bool may_have_legacy_side() const;
  Task<> look_at_legacy_side();
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
  const std::shared_ptr<const catalog::Shape> shape_;  // null where nothing is said about tools
  const std::shared_ptr<StrangerLog> log_;
  const std::shared_ptr<StrangerLog> printed_;  // what it says on standard error, as a program
  client::CircuitBreaker breaker_;

  std::uint64_t version_ = 0;
  Offer offer_;                          // that was read last
  std::optional<store::Fence> read_by_;  // where it was read here, and is shared
  std::atomic<bool> is_forgotten_ = false;
  UpstreamPins::Counts reported_;
  std::optional<catalog::Publication> published_;  // by the reading under way

  bool started_ = false;               // the refresher
  std::atomic<bool> leads_ = false;    // by a lease, where it is shared
  std::atomic<bool> follows_ = false;  // resources for clients of this process
  std::atomic<std::uint64_t> lists_version_ = 0;
  catalog::PerKind<std::atomic<bool>> unimplemented_;  // when last asked for live
  std::atomic<bool> calls_apart_ = false;

  mutable std::mutex mutex_;
  UpstreamStatus status_;  // but how it is, which the refresher knows
  std::shared_ptr<const LegacySide> legacy_side_;
  std::atomic<bool> has_legacy_side_ = false;
  std::shared_ptr<const client::ServerFacts> looked_at_;  // the server whose other side was looked for
  bool looking_ = false;
  TaskGroup looks_;

  client::Refresher refresher_;
};

}  // namespace proteus::providers
