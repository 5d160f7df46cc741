#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace proteus {

// Decides when to act on events that come in bursts: on the first at once, and then not again before a window has
// passed. Events within the window are acted on together, at its end.
class Debounce {
 public:
  explicit Debounce(std::chrono::milliseconds window, Clock::Monotonic acted = {}) : window_(window), acted_(acted) {}

  // Returns the earliest time to act on an event that came at or before `now`.
  Clock::Monotonic due(Clock::Monotonic now) const { return std::max(now, acted_ + window_); }
  // Returns how long it is from `now` until `due`.
  Clock::Monotonic::duration wait(Clock::Monotonic now) const { return due(now) - now; }

  void act(Clock::Monotonic now) { acted_ = now; }
  Clock::Monotonic acted() const { return acted_; }
  std::chrono::milliseconds window() const { return window_; }

 private:
  std::chrono::milliseconds window_;
  Clock::Monotonic acted_;  // time of the last action
};

}  // namespace proteus
