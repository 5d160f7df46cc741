#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"
#include "gateway/grants/grant.hpp"
#include "gateway/sign_in/browser.hpp"

namespace proteus::gateway {

// Sign-ins at identity providers whose users have not consented yet, by browser id: they hold the ID token with which
// the identity assertion chain begins. Each is kept no longer than the browser's cookie lives. Thread-safe.
class SignedIn {
 public:
  static constexpr std::size_t kMost = 10'000;

  // The clock must outlive this object.
  explicit SignedIn(const Clock& clock) : clock_(clock) {}

  void put(const std::string& browser, Grant identity) {
    const std::scoped_lock lock(mutex_);
    forget_old();
    if (by_browser_.size() >= kMost || !by_browser_.emplace(browser, std::move(identity)).second) return;
    by_time_.emplace_back(clock_.now() + Browsers::kLifetime, browser);
  }
  std::optional<Grant> find(const std::string& browser) {
    const std::scoped_lock lock(mutex_);
    forget_old();
    const auto found = by_browser_.find(browser);
    return found == by_browser_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void forget_old() {
    const auto now = clock_.now();
    while (!by_time_.empty() && by_time_.front().first <= now) {
      by_browser_.erase(by_time_.front().second);
      by_time_.pop_front();
    }
  }

  const Clock& clock_;
  std::mutex mutex_;
  std::unordered_map<std::string, Grant> by_browser_;
  std::deque<std::pair<Clock::Monotonic, std::string>> by_time_;
};

}  // namespace proteus::gateway
