#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace proteus {

// When to act on what comes in bursts: on the first at once, and then not again before a window has passed. What comes
// within the window is acted on together, at its end.
class Debounce {
 public:
  explicit Debounce(std::chrono::milliseconds window, Clock::Monotonic acted = {}) : window_(window), acted_(acted) {}

  // The earliest time to act on what came before or at `now`.
  Clock::Monotonic due(Clock::Monotonic now) const { return std::max(now, acted_ + window_); }
  // How long until then.
  Clock::Monotonic::duration wait(Clock::Monotonic now) const { return due(now) - now; }

  void act(Clock::Monotonic now) { acted_ = now; }
  Clock::Monotonic acted() const { return acted_; }
  std::chrono::milliseconds window() const { return window_; }

 private:
  std::chrono::milliseconds window_;
  Clock::Monotonic acted_;  // the last time
};

}  // namespace proteus
