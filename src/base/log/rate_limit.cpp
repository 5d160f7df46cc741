#include "base/log/rate_limit.hpp"

#include <algorithm>

namespace proteus {
namespace {

constexpr std::chrono::nanoseconds kMinute = std::chrono::minutes(1);

std::int64_t count(Clock::Monotonic time) { return time.time_since_epoch() / std::chrono::nanoseconds(1); }

std::chrono::nanoseconds interval_of(unsigned per_minute) {
  return per_minute > 0 ? kMinute / per_minute : std::chrono::nanoseconds(0);
}

}  // namespace

RateLimit::RateLimit(unsigned per_minute) : interval_(interval_of(per_minute)) {}

std::chrono::nanoseconds RateLimit::take(Clock::Monotonic now) { return take(now, interval_); }

std::chrono::nanoseconds RateLimit::take(Clock::Monotonic now, unsigned per_minute) {
  return take(now, interval_of(per_minute));
}

std::chrono::nanoseconds RateLimit::take(Clock::Monotonic now, std::chrono::nanoseconds interval) {
  if (interval.count() == 0) return interval;
  std::int64_t used = used_until_.load(std::memory_order_relaxed);
  for (;;) {
    const std::int64_t next = std::max(used, count(now)) + interval.count();
    const std::int64_t beyond = next - count(now) - kMinute.count();
    if (beyond > 0) return std::chrono::nanoseconds(beyond);
    if (used_until_.compare_exchange_weak(used, next, std::memory_order_relaxed)) return std::chrono::nanoseconds(0);
  }
}

bool RateLimit::is_unused(Clock::Monotonic now) const {
  return used_until_.load(std::memory_order_relaxed) <= count(now);
}

}  // namespace proteus
