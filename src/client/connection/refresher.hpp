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
#include "base/tasks/debounce.hpp"
#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "catalog/pins/change.hpp"
#include "client/connection/backoff.hpp"
#include "client/connection/circuit_breaker.hpp"
#include "client/connection/connection.hpp"

namespace proteus::client {

// Says when a server's lists are read again.
struct RefreshPolicy {
  // Whether callers get the lists that were read, or lists from the server itself. For live lists the owner is notified
  // when they may have changed.
  enum class Lists : std::uint8_t { kept, live };

  Lists lists = Lists::kept;
  bool auto_refresh = false;  // every `refresh_interval`
  std::chrono::milliseconds refresh_interval = std::chrono::minutes(5);
  bool event_driven_refresh = true;  // when the server announces a change; if it cannot, every `refresh_interval`
  std::chrono::milliseconds ttl{0};  // if positive: only on the first use after this time, instead of both
  std::chrono::milliseconds health_interval = std::chrono::seconds(30);
  unsigned max_consecutive_failures = 3;  // failures in a row that make the state `failed`

  std::chrono::milliseconds debounce{200};
  std::chrono::milliseconds first_retry{500};
  std::chrono::milliseconds last_retry{60'000};
};

// The result of reading the lists: what changed, and the error if not all lists could be read.
struct Gathered {
  catalog::Change change;
  std::optional<Error> failure = {};
};

// The record of one reading of the lists.
struct Reading {
  Clock::Wall at{};
  std::chrono::milliseconds duration{0};
  std::optional<Error> error = {};
  catalog::Change change = {};
  bool partial = false;  // despite the error, the other lists were read

  bool ok() const { return !error; }
};

// How a change of a server's lists is noticed.
enum class Watch : std::uint8_t {
  listening,  // the server announces changes
  polling,    // the lists are read every `refresh_interval`
  on_use,     // the lists are read when they are used: each time, or if they are too old
  none,       // the lists are read at the start, after a reconnect, and on request
  elsewhere,  // another process watches the server
};

std::string_view to_string(Watch watch);

// The health of a server, with counters. It depends on requests as well as on readings: a server whose requests fail is
// not `connected`, and a server whose circuit is open has `failed`.
struct ServerHealth {
  ServerState state = ServerState::connecting;
  CircuitBreaker::State circuit = CircuitBreaker::State::closed;
  Watch watch = Watch::none;
  std::optional<Error> last_error = {};
  unsigned consecutive_failures = 0;
  std::optional<Clock::Wall> last_refresh_at = {};  // time of the last reading without error
  std::uint64_t refreshes = 0;
  std::uint64_t failed_refreshes = 0;
  std::uint64_t announcements = 0;  // announced changes of lists
};

std::string_view to_string(ServerState state);

// A connection to one server that keeps the server's lists fresh. Decides when they are read: at the start, when the
// server announces changes, on a timer, when they are too old to use, on request, and again after a failure. Also
// checks periodically whether the server answers. The owner provides the function that reads the lists and uses the
// result.
//
// Belongs to the thread of its executor, except for functions that are marked as thread-safe. `close` must have ended
// before it is destroyed.
class Refresher {
 public:
  // What the refresher needs from its owner. Everything must outlive it. The functions are called on its thread.
  struct Dependencies {
    Executor executor;
    const Clock& clock;
    Chance chance;
    CircuitBreaker& breaker;
    std::string name;  // name of the server in the log, and of the task
    // Reads the lists, stores them and returns what changed. Fails if nothing could be read. Never runs twice at a
    // time.
    std::function<Task<Result<Gathered>>()> read;
    // Called after each reading, even if it failed.
    std::function<void(const Reading&)> on_read = {};
    std::function<void(const std::string& uri)> on_resource_updated = {};
    // Called when live lists may have changed. A legacy server announces that in each caller's own session instead.
    std::function<void(catalog::KindSet kinds)> on_lists_changed = {};
  };

  // Opens nothing. Overwrites the options about announcements, reconnecting, agreements, lost sessions and corrected
  // eras.
  Refresher(RefreshPolicy policy, Dependencies around, MakerFactory make, Options options);
  Refresher(const Refresher&) = delete;
  Refresher& operator=(const Refresher&) = delete;

  // Thread-safe. Connects in the background, and stays connected.
  void start();
  // Waits for the first reading and returns its outcome; fails if the refresher is closed before.
  Task<Result<>> first_try();
  // Ends all activity and the connection. Waiters for a reading or for the first try get the error `cancelled`.
  Task<> close();
  bool is_closing() const { return closing_; }

  // Thread-safe. Reads the lists now. Concurrent callers share one reading, which begins after all of them have called.
  Task<Reading> refresh();
  // Thread-safe. Reads the lists if they are too old to use. Concurrent callers share one reading. After a failure, the
  // old lists remain in use until the next reading is due.
  Task<> freshen();
  // Thread-safe. Returns whether the lists are too old to use, so that `freshen` would read them.
  bool is_stale() const;
  // Thread-safe. Call when another connection has received an announcement that lists have changed. Reads them soon, as
  // if the announcement had arrived here. Returns when they were read.
  Task<> announced();
  // Thread-safe.
  void set_auto_refresh(bool on);
  // Thread-safe. While paused, the lists are read only on request, and the server is not probed. After a pause, they
  // are read at once.
  void set_paused(bool paused);

  // Thread-safe. Returns what the server last said about itself; null before its first answer.
  std::shared_ptr<const ServerFacts> facts() const;
  // Thread-safe. Returns whether the server is known to be modern. Cheaper than `facts`.
  bool is_modern() const { return modern_.load(std::memory_order_relaxed); }
  // Thread-safe. Stores facts that another connection has found out.
  void learn(std::shared_ptr<const ServerFacts> facts);
  // Finds out whether the server is of `era`, as another connection has found. Reads the lists and listens anew.
  void look_again(mcp::Era era);
  // Thread-safe.
  ServerHealth health() const;
  // Thread-safe. Returns what further connections to the same server need not find out again.
  KnownServer known() const;

  Connection& connection() { return connection_; }

  // Thread-safe. Sets all resources whose updates are wanted. Has no effect at a legacy server, which announces updates
  // in each caller's own session.
  void follow(std::set<std::string> uris);
  // Thread-safe. Waits until the server was asked to announce updates of a resource from `follow`. Fails if it refuses.
  Task<Result<>> tells_of(std::string uri);

 private:
  struct Round;  // one reading of the lists and its waiters

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
  // Listens for what is wanted, and again if that has changed by then. Runs at most once at a time; see `asking_`.
  Task<> keep_listening();
  Task<> listen();
  Task<Result<>> ask_to_announce(mcp::SubscriptionFilter wanted);
  void listened(const Result<>& agreed);
  void poll_instead();
  Task<> check_health();
  void on_announcement(const Announcement& announcement);
  void lists_announced(catalog::KindSet kinds);
  // Reads kept lists, or reports live lists as changed: anything may have changed while nothing was announced.
  void missed(std::chrono::milliseconds wait);
  void note_facts(std::shared_ptr<const ServerFacts> facts);
  // Notes at once that the server has changed its era: callers must not use it in the other one.
  void agreed();
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
  boost::asio::steady_timer alarm_;  // wakes `run` for the next action
  Bell tried_;

  bool closing_ = false;
  bool paused_ = false;
  bool tried_once_ = false;
  std::optional<Error> first_error_;
  unsigned partial_readings_ = 0;     // in a row
  std::shared_ptr<Round> next_;       // requested, not yet begun
  std::shared_ptr<Round> under_way_;  // begun, not yet ended
  std::optional<Clock::Monotonic> refresh_at_;
  std::optional<Clock::Monotonic> poll_at_;
  Clock::Monotonic health_at_{};
  Clock::Monotonic left_alone_until_{};  // end of the pause that the server asked for
  Debounce reading_;                     // joins announcements that follow each other closely into one reading
  bool asked_to_listen_ = false;
  bool listening_ = false;                     // asked to listen, and not refused for good
  bool refused_to_listen_ = false;             // refused for good, and logged
  std::optional<Clock::Monotonic> listen_at_;  // time to ask again
  bool asking_ = false;                        // `keep_listening` runs
  bool ask_again_ = false;                     // what is wanted has changed since it asked
  unsigned listen_failures_ = 0;               // in a row
  Bell asked_;
  std::set<std::string> heard_of_;   // resources whose updates the server has agreed to announce
  std::set<std::string> asked_for_;  // resources in the last request to listen
  std::optional<Error> listen_error_;

  std::atomic<bool> modern_ = false;
  std::atomic<bool> expects_announcements_ = false;  // the server offers to announce list changes, and we want that
  std::atomic<bool> announcing_ = false;             // the server has agreed to announce, and the stream is not broken
  std::atomic<bool> auto_refresh_;
  std::atomic<Clock::Monotonic> fresh_until_{};  // end of the TTL
  std::atomic<Clock::Monotonic> reached_at_{};   // time of our last successful reading or probe

  mutable std::mutex mutex_;  // guards the members below
  ServerHealth health_;
  std::shared_ptr<const ServerFacts> facts_;
  bool old_sse_ = false;
  std::set<std::string> followed_;
};

}  // namespace proteus::client
