#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/log/rate_limit.hpp"

namespace proteus {

// Limits the lines per minute of a log, and counts the lines beyond the limit as omitted. Lock-free and thread-safe.
class LineLimit {
 public:
  explicit LineLimit(unsigned per_minute) : lines_(per_minute) {}

  // Returns how many lines were omitted since the last written one if one more may be written. Otherwise counts it as
  // omitted and returns nothing.
  std::optional<std::uint64_t> take(Clock::Monotonic now) {
    if (lines_.take(now).count() == 0) return take_unwritten();
    unwritten_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  // Returns how many omitted lines have not been stated yet, and resets the count.
  std::uint64_t take_unwritten() { return unwritten_.exchange(0, std::memory_order_relaxed); }

 private:
  RateLimit lines_;
  std::atomic<std::uint64_t> unwritten_ = 0;
};

}  // namespace proteus
