#pragma once

#include <chrono>

#include "base/clock.hpp"
#include "base/rate_limit.hpp"

namespace proteus {

// Counts what was refused, and asks for a pause where that is too much: so many a minute, all at once or spread.
// Whoever succeeds is not counted. Belongs to one thread.
class Strikes {
 public:
  explicit Strikes(unsigned per_minute) : refused_(per_minute) {}

  void add(Clock::Monotonic now) {
    const auto wait = refused_.take(now);
    if (wait.count() > 0) until_ = now + wait;
  }
  // How long nothing more is to be tried; zero: it may be now.
  std::chrono::nanoseconds pause(Clock::Monotonic now) const {
    return until_ > now ? until_ - now : std::chrono::nanoseconds(0);
  }

 private:
  RateLimit refused_;
  Clock::Monotonic until_{};
};

}  // namespace proteus
