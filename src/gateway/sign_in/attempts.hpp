#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.hpp"

namespace proteus::gateway {

// Returns what limits count a client by: its address, or for IPv6 the first 64 bits, because each household and each
// server has that many addresses.
std::string network_of(std::string_view address);

// Limits failed attempts: `kPerMinute` a minute for each ticket and each network. Successes do not count, because many
// people may share a network. If too many fail at once, some are forgotten, so that they lock nobody else out.
// Thread-safe.
class Attempts {
 public:
  static constexpr unsigned kPerMinute = 10;
  static constexpr std::size_t kMost = 10'000;

  bool may_try(const std::string& who, Clock::Monotonic now) {
    const std::scoped_lock lock(mutex_);
    const auto found = failures_.find(who);
    return found == failures_.end() || found->second.count < kPerMinute || found->second.is_over(now);
  }
  void failed(const std::string& who, Clock::Monotonic now) {
    const std::scoped_lock lock(mutex_);
    if (failures_.size() >= kMost && !failures_.contains(who)) make_room(now);
    Failures& of_one = failures_.try_emplace(who, now).first->second;
    if (of_one.is_over(now)) of_one = Failures(now);
    ++of_one.count;
  }

  // Forgets the failures: somebody has signed in from there.
  void succeeded(const std::string& who) {
    const std::scoped_lock lock(mutex_);
    failures_.erase(who);
  }

 private:
  // The failures within one minute, which begins with the first.
  struct Failures {
    explicit Failures(Clock::Monotonic now) : first(now) {}
    bool is_over(Clock::Monotonic now) const { return now - first >= std::chrono::minutes(1); }
    Clock::Monotonic first;
    unsigned count = 0;
  };

  // Looks for failures that are over only once a minute: strangers may bring new names far more often.
  void make_room(Clock::Monotonic now) {
    if (now - scanned_ >= std::chrono::minutes(1)) {
      scanned_ = now;
      std::erase_if(failures_, [&](const auto& each) { return each.second.is_over(now); });
    }
    if (failures_.size() >= kMost) failures_.erase(failures_.begin());
  }

  std::mutex mutex_;
  Clock::Monotonic scanned_{};  // when `make_room` last looked at all
  std::unordered_map<std::string, Failures> failures_;
};

}  // namespace proteus::gateway
