#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.hpp"
#include "gateway/callers/principal.hpp"

namespace proteus::gateway {

// When a token was last used, to the minute, so that callers who share one do not write to the same place all the time.
// Thread-safe.
class LastUse {
 public:
  void mark(Clock::Monotonic now) {
    if (now.time_since_epoch() - std::chrono::nanoseconds(at_.load(std::memory_order_relaxed)) < kCoarse) return;
    at_.store(std::chrono::nanoseconds(now.time_since_epoch()).count(), std::memory_order_relaxed);
  }
  // Nothing where it was not since this process began.
  std::optional<Clock::Monotonic> at() const {
    const std::int64_t at = at_.load(std::memory_order_relaxed);
    if (at == kNever) return std::nullopt;
    return Clock::Monotonic(std::chrono::nanoseconds(at));
  }

 private:
  static constexpr std::chrono::minutes kCoarse{1};
  static constexpr std::int64_t kNever = -std::chrono::nanoseconds(std::chrono::hours(1)).count();

  std::atomic<std::int64_t> at_ = kNever;
};

// The tokens that were made at runtime, by their hashes. Immutable; other tokens are another object.
class IssuedTokens {
 public:
  // One secret and whom it makes its holder. A token has two while it is being rotated.
  struct Entry {
    std::shared_ptr<const Principal> principal;
    std::shared_ptr<LastUse> use;
  };
  explicit IssuedTokens(std::vector<Entry> entries);

  // Whose it is, also where it has expired; that is use of it. Null where it is nobody's.
  std::shared_ptr<const Principal> find(const json::Digest& token, Clock::Monotonic now) const;
  bool knows(const json::Digest& token) const { return by_token_.contains(token); }
  // By its name; null where none of them has it. Takes linear time, and is no use of the token.
  std::shared_ptr<const Principal> find_name(std::string_view name) const;
  // Whether all of their holders may use the same.
  bool are_alike() const { return are_alike_; }
  // Those whose secrets end by themselves.
  const std::vector<std::shared_ptr<const Principal>>& expiring() const { return expiring_; }
  // As Principals::look_at.
  void look_at(const catalog::SnapshotPointer& snapshot) const;
  // The keys that a token which has not expired stands for.
  std::unordered_set<std::string> keys_at(Clock::Wall now) const;

 private:
  std::unordered_map<json::Digest, Entry, DigestHash> by_token_;
  std::vector<std::shared_ptr<const Principal>> expiring_;
  std::unordered_set<const Permissions*> permissions_;  // of all of them
  bool are_alike_ = true;
};

}  // namespace proteus::gateway
