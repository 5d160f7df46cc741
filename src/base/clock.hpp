#pragma once

#include <atomic>
#include <chrono>
#include <utility>

#include <time.h>

namespace proteus {

// Where time comes from. Code that decides by time takes a `const Clock&`, so that a test can move it by
// hand. Implementations are safe to call from any thread.
class Clock {
 public:
  using Monotonic = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;
  virtual Monotonic now() const = 0;
  virtual Wall wall() const = 0;
  // `now` as of a few milliseconds ago at most, for a tenth of the price: for what is swept or limited, not measured.
  virtual Monotonic recent() const { return now(); }
};

class SystemClock final : public Clock {
 public:
  // While it lives, `recent` on this thread is when it began or was renewed: for a batch of short handlers, which ask
  // for it often.
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

  static constinit inline thread_local Monotonic began_{};  // none: outside of a turn
};

// Moves only when told to, by one thread, and may be looked at by others.
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
