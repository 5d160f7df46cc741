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
#include "base/task_group.hpp"
#include "base/waiting.hpp"
#include "store/store.hpp"

namespace proteus::cluster {

struct MemberOptions {
  std::string name;   // new at each start
  std::string facts;  // JSON, for people; at the start
  std::chrono::milliseconds attend_every{1'000};
  // A process that has not attended for so long is taken for dead.
  std::chrono::milliseconds patience{3'000};
  // How long a change waits until all have applied it.
  std::chrono::milliseconds settle{500};
  // How long changes of others may be missed until what could have been revoked is not believed any more.
  std::chrono::milliseconds blind_after{60'000};
  // When a dead process is not listed any more.
  std::chrono::milliseconds forget{std::chrono::hours(24)};
};

// How many of those who live have applied everything that was written until a moment.
struct Settled {
  std::size_t applied = 0;
  std::size_t live = 0;
  bool all() const { return applied == live; }
};

// This process among those that share a store. Says that it lives, follows the feed of changes, and has them applied
// here in their order.
//
// Belongs to the thread of the context, apart from what is said to be thread-safe. `leave` must have ended before it is
// destroyed.
class Member {
 public:
  // Everything outlives it.
  Member(boost::asio::io_context& io, store::Store& store, const Clock& clock, MemberOptions options);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  const MemberOptions& options() const { return options_; }
  // On the thread. From the next time that it attends.
  void set_facts(std::string facts);

  // Before anything is read from the store: whatever is written after this is followed.
  Task<Result<>> join();

  // What changed; nothing where anything may have changed. Where it fails it is called again with the same.
  using Changed = std::vector<store::FeedEntry>;
  using Apply = std::function<Task<Result<>>(const Changed* changed)>;
  // Whether changes of others may have been missed for too long. Called on the thread when that changes.
  using OnBlind = std::function<void(bool blind)>;
  void start(Apply apply, OnBlind on_blind);
  Task<> leave();

  using Settled = cluster::Settled;
  // Thread-safe. Waits until all have, or for as long as the options say. However many wait, one looks for all.
  Task<Result<Settled>> settle();

  // Thread-safe. Whether somebody attended lately.
  bool lives(const store::MemberRecord& record) const { return record.unseen < options_.patience; }
  Clock::Monotonic now() const { return clock_.now(); }
  // Thread-safe. How far it has followed the feed.
  std::uint64_t applied() const { return applied_.load(); }
  // Thread-safe. How long changes of others may have been missed.
  Clock::Monotonic::duration behind() const { return clock_.now() - caught_up_.load(); }

  // Thread-safe. Whether others may take this process for dead now, or act on having done so a moment ago. Costs next
  // to nothing, and so begins a little early.
  bool is_in_doubt() const {
    constexpr std::chrono::milliseconds kRecently{20};
    const auto now = clock_.recent();
    return now - attended_at_.load(std::memory_order_relaxed) >= options_.patience - kRecently ||
           now < doubted_until_.load(std::memory_order_relaxed);
  }

 private:
  Task<> run();
  Task<> look_out();
  // False where the store did not answer, or something could not be applied.
  Task<bool> catch_up();
  Task<> attend();

  // Somebody who waits until a change has been applied.
  struct Waiting {
    Clock::Monotonic until;
    std::optional<std::uint64_t> wanted = {};  // the newest entry of the feed when it came
    std::optional<Result<Settled>> outcome = {};
  };
  Task<Result<Settled>> wait_settled();
  Task<> look_who_applied();
  Task<> look_once();
  // Those who know what they wait for, and those who do not yet.
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
  boost::asio::steady_timer look_timer_;
  Bell looked_;
  std::vector<std::shared_ptr<Waiting>> waiting_;
  bool looking_ = false;  // for those who wait
  std::atomic<std::uint64_t> applied_ = 0;
  std::atomic<Clock::Monotonic> caught_up_{};
  std::string facts_;
  bool told_ = true;            // what these are
  std::uint64_t attended_ = 0;  // with this number
  std::atomic<Clock::Monotonic> attended_at_{};
  std::atomic<Clock::Monotonic> doubted_until_{};
  bool grown_ = false;  // the feed, perhaps
  bool blind_ = false;
  bool away_ = false;  // the store, and the log has it
  bool stopped_ = false;
};

}  // namespace proteus::cluster
