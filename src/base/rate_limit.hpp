#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.hpp"

namespace proteus {

// So many a minute: all of them at once, or spread; what was used comes back evenly. Thread-safe, without a lock.
class RateLimit {
 public:
  explicit RateLimit(unsigned per_minute = 0);

  // Zero where one more is allowed, which counts it; else how long until it is.
  std::chrono::nanoseconds take(Clock::Monotonic now);
  // The same at a rate that may be another each time; 0 for no limit. What was used comes back at the pace it had.
  std::chrono::nanoseconds take(Clock::Monotonic now, unsigned per_minute);
  // Nothing of it is used: one made anew would do the same.
  bool is_unused(Clock::Monotonic now) const;

 private:
  std::chrono::nanoseconds take(Clock::Monotonic now, std::chrono::nanoseconds interval);

  const std::chrono::nanoseconds interval_;   // in which one comes back; zero: no limit
  std::atomic<std::int64_t> used_until_ = 0;  // when all of it has come back
};

}  // namespace proteus
