#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/tasks/async_mutex.hpp"
#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "store/store.hpp"

namespace proteus::cluster {

struct MemberOptions {
  std::string name;   // new at each start
  std::string facts;  // JSON about this process, at the start
  std::chrono::milliseconds attend_every{1'000};
  // A process without a heartbeat for this long counts as dead.
  std::chrono::milliseconds patience{3'000};
  // How long `settle` waits for the other processes.
  std::chrono::milliseconds settle{500};
  // How long changes of others may be missed before everything that could have been revoked is refused.
  std::chrono::milliseconds blind_after{60'000};
  // How long a dead process stays listed.
  std::chrono::milliseconds forget{std::chrono::hours(24)};
};

// How many of the live processes have applied everything that was written until some moment.
struct Settled {
  std::size_t applied = 0;
  std::size_t live = 0;
  bool all() const { return applied == live; }
};

// This process as one of those that share a store. Writes heartbeats, follows the feed of changes, and has them applied
// here in their order.
//
// Belongs to the thread of the io_context, except for what is marked thread-safe. `leave` must complete before it is
// destroyed.
class Member {
 public:
  // All references must outlive this object.
  Member(boost::asio::io_context& io, store::Store& store, const Clock& clock, MemberOptions options);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  const MemberOptions& options() const { return options_; }
  // On the thread. Takes effect with the next heartbeat.
  void set_facts(std::string facts);

  // Must complete before anything is read from the store: whatever is written after that is followed.
  Task<Result<>> join();

  // Applies `changed`; null means that anything may have changed. If it fails, it is called again with at least the
  // same changes.
  using Changed = std::vector<store::FeedEntry>;
  using Apply = std::function<Task<Result<>>(const Changed* changed)>;
  // Called on the thread when it changes whether changes of others may have been missed for too long.
  using OnBlind = std::function<void(bool blind)>;
  void start(Apply apply, OnBlind on_blind);
  Task<> leave();

  using Settled = cluster::Settled;
  // Thread-safe. Waits until all live processes have applied everything that was written before, but no longer than
  // `MemberOptions::settle`. One loop serves all waiters.
  Task<Result<Settled>> settle();

  // Thread-safe. Whether a process has written a heartbeat lately.
  bool lives(const store::MemberRecord& record) const { return record.unseen < options_.patience; }
  Clock::Monotonic now() const { return clock_.now(); }
  // Thread-safe. Returns how far it has followed the feed.
  std::uint64_t applied() const { return applied_.load(); }
  // Thread-safe. Returns for how long changes of others may have been missed.
  Clock::Monotonic::duration behind() const { return clock_.now() - caught_up_.load(); }

  // Thread-safe. Whether changes of others may have been missed for too long now: a process that has stalled knows it
  // before it can call `OnBlind`. Uses the cheap clock.
  bool is_blind() const { return clock_.recent() - caught_up_.load(std::memory_order_relaxed) >= options_.blind_after; }

  // Thread-safe. Whether other processes may count this one as dead now, or still act on having done so a moment ago.
  // Uses the cheap clock, and so begins a little early.
  bool is_in_doubt() const {
    constexpr std::chrono::milliseconds kRecently{20};
    const auto now = clock_.recent();
    return now - attended_at_.load(std::memory_order_relaxed) >= options_.patience - kRecently ||
           now < doubted_until_.load(std::memory_order_relaxed);
  }

 private:
  Task<> run();
  Task<> keep_attending();
  Task<> look_out();
  // Returns false if the store did not answer or a change could not be applied.
  Task<bool> catch_up();
  Task<> attend();

  // A caller that waits until a change has been applied.
  struct Waiting {
    Clock::Monotonic until;
    std::optional<std::uint64_t> wanted = {};  // newest entry of the feed when the caller came
    std::optional<Result<Settled>> outcome = {};
  };
  Task<Result<Settled>> wait_settled();
  Task<> look_who_applied();
  Task<> look_once();
  // Returns the waiters that know which entry they wait for, or those that do not know it yet.
  std::vector<std::shared_ptr<Waiting>> waiting(bool know) const;
  Settled count(const std::vector<store::MemberRecord>& members, std::uint64_t wanted) const;

  boost::asio::io_context& io_;
  store::Store& store_;
  const Clock& clock_;
  MemberOptions options_;
  Apply apply_;
  OnBlind on_blind_;
  TaskGroup tasks_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer attend_timer_;
  AsyncMutex attending_;
  boost::asio::steady_timer look_timer_;
  Bell looked_;
  std::vector<std::shared_ptr<Waiting>> waiting_;
  bool looking_ = false;  // `look_who_applied` is running
  std::atomic<std::uint64_t> applied_ = 0;
  std::atomic<Clock::Monotonic> caught_up_{};
  std::string facts_;
  bool told_ = true;            // the latest `facts_` were sent
  std::uint64_t attended_ = 0;  // number of the feed in the last heartbeat
  std::atomic<Clock::Monotonic> attended_at_{};
  std::atomic<Clock::Monotonic> doubted_until_{};
  bool grown_ = false;  // the feed may have grown
  bool blind_ = false;
  bool away_ = false;  // the store is away, and the log says so
  bool stopped_ = false;
};

}  // namespace proteus::cluster
