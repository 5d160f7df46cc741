#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <boost/asio/steady_timer.hpp>
#include <proteus/client.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/debounce.hpp"
#include "base/task_group.hpp"
#include "base/waiting.hpp"
#include "catalog/pins/change.hpp"
#include "client/connection/backoff.hpp"
#include "client/connection/circuit_breaker.hpp"
#include "client/connection/connection.hpp"

namespace proteus::client {

// When a server's lists are read again.
struct RefreshPolicy {
  // Whether what was read is used, or callers get lists from the server itself. Then its owner is told where those may
  // have changed.
  enum class Lists : std::uint8_t { kept, live };

  Lists lists = Lists::kept;
  bool auto_refresh = false;  // every `refresh_interval`
  std::chrono::milliseconds refresh_interval = std::chrono::minutes(5);
  bool event_driven_refresh = true;  // when the server announces a change; while it cannot, every `refresh_interval`
  std::chrono::milliseconds ttl{0};  // above zero: instead of both, on the first use after this time
  std::chrono::milliseconds health_interval = std::chrono::seconds(30);
  unsigned max_consecutive_failures = 3;  // that make the state `failed`

  std::chrono::milliseconds debounce{200};
  std::chrono::milliseconds first_retry{500};
  std::chrono::milliseconds last_retry{60'000};
};

// What a reading found: what changed, and why not all of the lists could be read.
struct Gathered {
  catalog::Change change;
  std::optional<Error> failure = {};
};

// One reading of the lists.
struct Reading {
  Clock::Wall at{};
  std::chrono::milliseconds duration{0};
  std::optional<Error> error = {};
  catalog::Change change = {};
  bool partial = false;  // where there is an error: whether the other lists were read

  bool ok() const { return !error; }
};

// How a change of a server's lists is noticed.
enum class Watch : std::uint8_t {
  listening,  // the server announces it
  polling,    // they are read every `refresh_interval`
  on_use,     // they are read when somebody asks: each time, or where they are too old
  none,       // they are read when the server is connected anew, and when somebody wants that
  elsewhere,  // another process does
};

std::string_view to_string(Watch watch);

// How a server is, and what was counted. Requests count as well as readings: a server whose requests fail is not
// `connected`, and one whose circuit is open has `failed`.
struct ServerHealth {
  ServerState state = ServerState::connecting;
  CircuitBreaker::State circuit = CircuitBreaker::State::closed;
  Watch watch = Watch::none;
  std::optional<Error> last_error = {};
  unsigned consecutive_failures = 0;
  std::optional<Clock::Wall> last_refresh_at = {};  // without fault
  std::uint64_t refreshes = 0;
  std::uint64_t failed_refreshes = 0;
  std::uint64_t announcements = 0;  // of changes of lists
};

std::string_view to_string(ServerState state);

// A connection to one server, and when its lists are read over it: at the start, when the server announces changes, on
// a timer, when they are too old to use, or when asked; again after a failure. Probes a quiet server. What is read, and
// what becomes of it, is its owner's.
//
// Belongs to the thread of its executor, apart from what is said to be thread-safe. `close` must have ended before it
// is destroyed.
class Refresher {
 public:
  // Everything outlives it. The functions are called on its thread.
  struct Dependencies {
    Executor executor;
    const Clock& clock;
    Chance chance;
    CircuitBreaker& breaker;
    std::string name;  // in the log and of its task
    // Reads the lists, takes over what was read and says what changed. Fails where nothing could be read. Runs once at
    // a time.
    std::function<Task<Result<Gathered>>()> read;
    // After each reading, also one that failed.
    std::function<void(const Reading&)> on_read = {};
    std::function<void(const std::string& uri)> on_resource_updated = {};
    // Where lists are live: they may have changed. Those of a legacy server are announced to each caller's own session,
    // and not here.
    std::function<void(catalog::KindSet kinds)> on_lists_changed = {};
  };

  // Opens nothing. Sets those of the options that are about announcements and lost sessions.
  Refresher(RefreshPolicy policy, Dependencies around, MakerFactory make, Options options);
  Refresher(const Refresher&) = delete;
  Refresher& operator=(const Refresher&) = delete;

  // Thread-safe. Connects in the background, and stays connected.
  void start();
  // How the first reading ended; an error where it was closed before.
  Task<Result<>> first_try();
  // Ends what it does, and the connection. Whoever waits for a reading or for the first try is told that it is
  // cancelled.
  Task<> close();
  bool is_closing() const { return closing_; }

  // Thread-safe. Reads the lists now; callers at the same time share one reading, which began after each of them asked.
  Task<Reading> refresh();
  // Thread-safe. Refreshes where what is there has become too old to use; callers at the same time share one reading. A
  // failure leaves what is there, to be used until the next reading is due.
  Task<> freshen();
  // Thread-safe. Whether `freshen` would.
  bool is_stale() const;
  // Thread-safe. Somebody was told elsewhere that lists are others: they are read soon, as if it had been told here.
  // Ends when they were.
  Task<> announced();
  void set_auto_refresh(bool on);
  // Thread-safe. While it pauses, lists are read only when somebody wants that, and nothing is probed; then they are
  // read at once.
  void set_paused(bool paused);

  // Thread-safe. What the server last said about itself; empty before it ever answered.
  std::shared_ptr<const ServerFacts> facts() const;
  // The same as a plain flag, for whoever asks often: whether it is known to be modern.
  bool is_modern() const { return modern_.load(std::memory_order_relaxed); }
  // Thread-safe. What was found out elsewhere, where it never connects by itself.
  void learn(std::shared_ptr<const ServerFacts> facts);
  // Thread-safe.
  ServerHealth health() const;
  // Thread-safe. For further connections to the same server.
  KnownServer known() const;

  Connection& connection() { return connection_; }

  // Thread-safe. Single resources whose updates are wanted, all of them. A legacy server is not asked for them here: it
  // tells each of its sessions apart.
  void follow(std::set<std::string> uris);
  // Thread-safe. Whether a modern server tells of updates of a resource that is followed; ends when it was asked.
  Task<Result<>> tells_of(std::string uri);

 private:
  struct Round;  // one reading of the lists, and who waits for it

  Options with_announcements(Options options);
  Task<> run();
  Task<> read_lists();
  void end_first_try(std::optional<Error> error);
  Reading cancelled_reading() const;
  Task<Result<Gathered>> discover();
  void conclude(Reading& reading, Result<Gathered> gathered);
  void succeeded(Reading& reading);
  void failed_in_part(const Error& error);
  void failed(Error error);
  void want_refresh(std::chrono::nanoseconds in);
  std::chrono::milliseconds pause_after(unsigned failures, const Error& why);
  Clock::Monotonic left_alone_until() const;
  void reached();
  bool keeps_lists() const { return policy_.lists == RefreshPolicy::Lists::kept; }

  Task<> begin_listening();
  void start_listening();
  // Listens for what is wanted, and again where that is something else by then. One of these at a time: `asking_`.
  Task<> keep_listening();
  Task<> listen();
  Task<Result<>> ask_to_announce(mcp::SubscriptionFilter wanted);
  void listened(const Result<>& agreed);
  void poll_instead();
  Task<> check_health();
  void on_announcement(const Announcement& announcement);
  void lists_announced(catalog::KindSet kinds);
  // Anything may have changed while nothing was announced.
  void missed(std::chrono::milliseconds wait);
  void note_facts(std::shared_ptr<const ServerFacts> facts);
  bool polls() const;
  Watch watch() const;
  Task<std::shared_ptr<Round>> join_round();
  Task<> join_freshening();
  Task<> read_soon();
  Task<Result<>> ask_within_time(std::string uri);
  Task<Result<>> wait_until_asked(std::string uri);

  const RefreshPolicy policy_;
  const Dependencies dependencies_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<StrangerLog> log_;

  Connection connection_;
  TaskGroup tasks_;
  boost::asio::steady_timer alarm_;  // for what is to be done next
  Bell tried_;

  bool closing_ = false;
  bool paused_ = false;
  bool tried_once_ = false;
  std::optional<Error> first_error_;
  unsigned partial_readings_ = 0;     // in a row
  std::shared_ptr<Round> next_;       // wanted, not yet begun
  std::shared_ptr<Round> under_way_;  // begun, not yet ended
  std::optional<Clock::Monotonic> refresh_at_;
  std::optional<Clock::Monotonic> poll_at_;
  Clock::Monotonic health_at_{};
  Clock::Monotonic left_alone_until_{};  // the server asked for that
  Debounce reading_;                     // of the lists: one that is announced soon after another waits for more
  bool asked_to_listen_ = false;
  bool listening_ = false;                     // asked to, and not refused for good
  bool refused_to_listen_ = false;             // for good, and the log has it
  std::optional<Clock::Monotonic> listen_at_;  // once more
  bool asking_ = false;                        // to announce
  bool ask_again_ = false;
  unsigned listen_failures_ = 0;  // in a row
  Bell asked_;
  std::set<std::string> heard_of_;   // resources it has agreed to tell of
  std::set<std::string> asked_for_;  // resources, when it was last asked to announce
  std::optional<Error> listen_error_;

  std::atomic<bool> modern_ = false;
  std::atomic<bool> expects_announcements_ = false;  // of its lists: it said that they change
  std::atomic<bool> announcing_ = false;             // agreed, and not interrupted
  std::atomic<bool> auto_refresh_;
  std::atomic<Clock::Monotonic> fresh_until_{};  // by the TTL
  std::atomic<Clock::Monotonic> reached_at_{};   // last, by us

  mutable std::mutex mutex_;  // for what is below
  ServerHealth health_;
  std::shared_ptr<const ServerFacts> facts_;
  bool old_sse_ = false;
  std::set<std::string> followed_;
};

}  // namespace proteus::client
