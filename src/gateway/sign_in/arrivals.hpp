#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"
#include "gateway/identity/identities.hpp"

namespace proteus::gateway {

// An operator whom an identity provider sent back to the page.
struct ArrivedOperator {
  Identities::Operator who;
  std::string path;  // path of the page that they had opened
};

// Operators who came back from an identity provider and whom the page has not signed in yet. The redirect of an
// identity provider comes from another site and so carries no `Strict` cookie; the page fetches the operator with a
// second request. Each operator has a single-use code, which expires after two minutes and works only for the browser
// that departed. Thread-safe.
class Arrivals {
 public:
  static constexpr std::chrono::minutes kLifetime{2};
  static constexpr std::size_t kMost = 1000;

  // The clock must outlive this object.
  explicit Arrivals(const Clock& clock) : clock_(clock) {}

  // Returns the code; empty if too many operators wait already.
  std::string add(ArrivedOperator arrived, std::string browser) {
    const std::scoped_lock lock(mutex_);
    const auto now = clock_.now();
    std::erase_if(by_code_, [&](const auto& one) { return one.second.until <= now; });
    if (by_code_.size() >= kMost) return {};
    std::string code = base64_encode(random_bytes(24), Base64::url);
    by_code_.emplace(code, Entry{std::move(arrived), std::move(browser), now + kLifetime});
    return code;
  }
  std::optional<ArrivedOperator> take(std::string_view code, std::string_view browser) {
    const std::scoped_lock lock(mutex_);
    const auto found = by_code_.find(std::string(code));
    // Keeps the entry: another browser must not end the sign-in of the browser that departed.
    if (found == by_code_.end() || !equal_in_constant_time(found->second.browser, browser)) return std::nullopt;
    const bool is_late = found->second.until <= clock_.now();
    ArrivedOperator arrived = std::move(found->second.arrived);
    by_code_.erase(found);
    return is_late ? std::nullopt : std::optional(std::move(arrived));
  }

 private:
  struct Entry {
    ArrivedOperator arrived;
    std::string browser;
    Clock::Monotonic until;
  };

  const Clock& clock_;
  std::mutex mutex_;
  std::unordered_map<std::string, Entry> by_code_;
};

}  // namespace proteus::gateway
