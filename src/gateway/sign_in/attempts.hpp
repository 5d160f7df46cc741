#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/rate_limit.hpp"

namespace proteus::gateway {

// How often somebody may try a secret: so many a minute for each ticket and each address. Thread-safe.
class Attempts {
 public:
  static constexpr unsigned kPerMinute = 10;
  static constexpr std::size_t kMost = 10'000;

  // False where it was tried too often, or too many try at once.
  bool take(const std::string& who, Clock::Monotonic now) {
    const std::scoped_lock lock(mutex_);
    if (limits_.size() >= kMost) std::erase_if(limits_, [&](const auto& each) { return each.second.is_unused(now); });
    const auto found = limits_.find(who);
    if (found == limits_.end() && limits_.size() >= kMost) return false;
    RateLimit& limit = found != limits_.end() ? found->second : limits_.try_emplace(who, kPerMinute).first->second;
    return limit.take(now) == std::chrono::nanoseconds::zero();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, RateLimit> limits_;
};

}  // namespace proteus::gateway
