#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/clock.hpp"

namespace proteus::gateway {

// How often somebody may try in vain: so many times a minute for each ticket and each address. Who succeeds is not
// counted, because many people may have one address. Thread-safe.
class Attempts {
 public:
  static constexpr unsigned kPerMinute = 10;
  static constexpr std::size_t kMost = 10'000;

  bool may_try(const std::string& who, Clock::Monotonic now) {
    const std::scoped_lock lock(mutex_);
    const auto found = failures_.find(who);
    if (found == failures_.end()) return has_room(now);
    return found->second.count < kPerMinute || found->second.is_over(now);
  }
  void failed(const std::string& who, Clock::Monotonic now) {
    const std::scoped_lock lock(mutex_);
    if (!has_room(now) && !failures_.contains(who)) return;
    Failures& of_one = failures_.try_emplace(who, now).first->second;
    if (of_one.is_over(now)) of_one = Failures(now);
    ++of_one.count;
  }

  // Somebody came in from there: what was tried before is not held against anybody.
  void succeeded(const std::string& who) {
    const std::scoped_lock lock(mutex_);
    failures_.erase(who);
  }

 private:
  // Within one minute, from the first of them.
  struct Failures {
    explicit Failures(Clock::Monotonic now) : first(now) {}
    bool is_over(Clock::Monotonic now) const { return now - first >= std::chrono::minutes(1); }
    Clock::Monotonic first;
    unsigned count = 0;
  };

  bool has_room(Clock::Monotonic now) {
    if (failures_.size() >= kMost) std::erase_if(failures_, [&](const auto& each) { return each.second.is_over(now); });
    return failures_.size() < kMost;
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Failures> failures_;
};

}  // namespace proteus::gateway
