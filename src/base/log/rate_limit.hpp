#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.hpp"

namespace proteus {

// Allows a number of uses per minute: all at once, or spread out; used ones come back evenly. Lock-free and
// thread-safe.
class RateLimit {
 public:
  explicit RateLimit(unsigned per_minute = 0);

  // Returns zero and counts a use if one more is allowed; otherwise returns how long until one is allowed.
  std::chrono::nanoseconds take(Clock::Monotonic now);
  // Like the other `take`, at a rate that may differ each time; 0 for no limit. Uses come back at the rate they were
  // taken at.
  std::chrono::nanoseconds take(Clock::Monotonic now, unsigned per_minute);
  // Whether all uses have come back, so that a new object would behave the same.
  bool is_unused(Clock::Monotonic now) const;

 private:
  std::chrono::nanoseconds take(Clock::Monotonic now, std::chrono::nanoseconds interval);

  const std::chrono::nanoseconds interval_;   // in which one use comes back; zero: no limit
  std::atomic<std::int64_t> used_until_ = 0;  // when all uses have come back
};

}  // namespace proteus
