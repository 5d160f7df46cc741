#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/task_group.hpp"
#include "store/store.hpp"

namespace proteus::cluster {

struct MemberOptions {
  std::string name;   // new at each start
  std::string facts;  // JSON, for people
  std::chrono::milliseconds attend_every{1'000};
  // A process that has not attended for so long is taken for dead.
  std::chrono::milliseconds patience{3'000};
  // How long a change waits until all have applied it.
  std::chrono::milliseconds settle{500};
  // How long changes of others may be missed until what could have been revoked is not believed any more.
  std::chrono::milliseconds blind_after{60'000};
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
  // Before it joins.
  void set_facts(std::string facts) { options_.facts = std::move(facts); }

  // Before anything is read from the store: whatever is written after this is followed.
  Task<Result<>> join();

  // What changed, each once; nothing where anything may have changed. Where it fails it is called again with the same.
  using Changed = std::vector<store::RecordKey>;
  using Apply = std::function<Task<Result<>>(const Changed* changed)>;
  // Whether changes of others may have been missed for too long. Called on the thread when that changes.
  using OnBlind = std::function<void(bool blind)>;
  void start(Apply apply, OnBlind on_blind);
  Task<> leave();

  // How many of those who live have applied everything that was written until now.
  struct Settled {
    std::size_t applied = 0;
    std::size_t live = 0;
    bool all() const { return applied == live; }
  };
  // Thread-safe. Waits until all have, or for as long as the options say.
  Task<Result<Settled>> settle();

  // Thread-safe. Whether somebody attended lately.
  bool lives(const store::MemberRecord& record) const { return record.unseen < options_.patience; }
  Clock::Monotonic now() const { return clock_.now(); }
  // Thread-safe. How far it has followed the feed.
  std::uint64_t applied() const { return applied_.load(); }
  // Thread-safe. How long changes of others may have been missed.
  Clock::Monotonic::duration behind() const { return clock_.now() - caught_up_.load(); }

 private:
  Task<> run();
  Task<> look_out();
  // False where the store did not answer, or something could not be applied.
  Task<bool> catch_up();
  Task<> attend();

  boost::asio::io_context& io_;
  store::Store& store_;
  const Clock& clock_;
  MemberOptions options_;
  Apply apply_;
  OnBlind on_blind_;
  TaskGroup tasks_;
  boost::asio::steady_timer timer_;
  std::atomic<std::uint64_t> applied_ = 0;
  std::atomic<Clock::Monotonic> caught_up_{};
  std::uint64_t attended_ = 0;  // with this number
  Clock::Monotonic attended_at_{};
  bool grown_ = false;  // the feed, perhaps
  bool blind_ = false;
  bool away_ = false;  // the store, and the log has it
  bool stopped_ = false;
};

}  // namespace proteus::cluster
