#pragma once

#include <chrono>

#include "base/clock.hpp"
#include "base/log/rate_limit.hpp"

namespace proteus {

// Counts failed attempts, and demands a pause if there are too many per minute, all at once or spread out. Successful
// attempts are not counted. Belongs to one thread.
class Strikes {
 public:
  explicit Strikes(unsigned per_minute) : refused_(per_minute) {}

  void add(Clock::Monotonic now) {
    const auto wait = refused_.take(now);
    if (wait.count() > 0) until_ = now + wait;
  }
  // Returns how long nothing more may be tried; zero if it may be tried now.
  std::chrono::nanoseconds pause(Clock::Monotonic now) const {
    return until_ > now ? until_ - now : std::chrono::nanoseconds(0);
  }

 private:
  RateLimit refused_;
  Clock::Monotonic until_{};
};

}  // namespace proteus
