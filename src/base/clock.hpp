#pragma once

#include <atomic>
#include <chrono>
#include <utility>

#include <time.h>

namespace proteus {

// Source of time. Code that depends on time takes a `const Clock&`, so that tests can inject a ManualClock.
// Implementations are thread-safe.
class Clock {
 public:
  using Monotonic = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;
  virtual Monotonic now() const = 0;
  virtual Wall wall() const = 0;
  // Returns `now` as of a few milliseconds ago at most, for a tenth of the cost. For expiry and limits, not for
  // measuring. Within a SystemClock::Turn it may lag further.
  virtual Monotonic recent() const { return now(); }
};

class SystemClock final : public Clock {
 public:
  // While it lives, `recent` on this thread returns the time when it was made or renewed: for a batch of short
  // handlers, which call `recent` often.
  class Turn {
   public:
    Turn() : before_(std::exchange(began_, read())) {}
    ~Turn() { began_ = before_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    void renew() { began_ = read(); }

   private:
    const Monotonic before_;
  };

  static Monotonic recently() { return began_ != Monotonic{} ? began_ : read(); }

  Monotonic now() const override { return std::chrono::steady_clock::now(); }
  Wall wall() const override { return std::chrono::system_clock::now(); }
  Monotonic recent() const override { return recently(); }

 private:
  static Monotonic read() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return Monotonic(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  }

  static constinit inline thread_local Monotonic began_{};  // zero outside of a turn
};

// Moves only by `advance`, which one thread calls; other threads may read it.
class ManualClock final : public Clock {
 public:
  Monotonic now() const override { return now_.load(); }
  Wall wall() const override { return wall_.load(); }
  void advance(std::chrono::nanoseconds by) {
    now_ = now_.load() + by;
    wall_ = wall_.load() + std::chrono::duration_cast<Wall::duration>(by);
  }

 private:
  std::atomic<Monotonic> now_{Monotonic(std::chrono::hours(1))};
  std::atomic<Wall> wall_{Wall(std::chrono::hours(24 * 365 * 50))};
};

}  // namespace proteus
