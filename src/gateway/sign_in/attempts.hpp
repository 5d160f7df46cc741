#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/rate_limit.hpp"

namespace proteus::gateway {

// How often somebody may try in vain: so many times a minute for each ticket and each address. Who succeeds is not
// counted, because many people may have one address. Thread-safe.
class Attempts {
 public:
  static constexpr unsigned kPerMinute = 10;
  static constexpr std::size_t kMost = 10'000;

  bool may_try(const std::string& who, Clock::Monotonic now) const {
    const std::scoped_lock lock(mutex_);
    const auto found = failures_.find(who);
    return found == failures_.end() ? failures_.size() < kMost : found->second.until <= now;
  }
  void failed(const std::string& who, Clock::Monotonic now) {
    const std::scoped_lock lock(mutex_);
    if (failures_.size() >= kMost)
      std::erase_if(failures_, [&](const auto& each) { return each.second.limit.is_unused(now); });
    if (failures_.size() >= kMost && !failures_.contains(who)) return;
    Failures& of_one = failures_[who];
    // The one that finds nothing left is the last one for a while.
    if (const auto wait = of_one.limit.take(now); wait > wait.zero()) of_one.until = now + wait;
  }

  // Somebody came in from there: what was tried before is not held against anybody.
  void succeeded(const std::string& who) {
    const std::scoped_lock lock(mutex_);
    failures_.erase(who);
  }

 private:
  struct Failures {
    RateLimit limit{kPerMinute - 1};
    Clock::Monotonic until{};
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Failures> failures_;
};

}  // namespace proteus::gateway
