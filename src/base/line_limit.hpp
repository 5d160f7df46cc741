#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/rate_limit.hpp"

namespace proteus {

// So many lines a minute of a log, and how many were left out beyond that. Thread-safe, without a lock.
class LineLimit {
 public:
  explicit LineLimit(unsigned per_minute) : lines_(per_minute) {}

  // Where one more line may be written: how many were left out since the last one. Nothing where it is left out, too.
  std::optional<std::uint64_t> take(Clock::Monotonic now) {
    if (lines_.take(now).count() == 0) return take_unwritten();
    unwritten_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  // How many were left out that no line has told of.
  std::uint64_t take_unwritten() { return unwritten_.exchange(0, std::memory_order_relaxed); }

 private:
  RateLimit lines_;
  std::atomic<std::uint64_t> unwritten_ = 0;
};

}  // namespace proteus
