#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.hpp"
#include "gateway/callers/principal.hpp"

namespace proteus::gateway {

// The time of a token's last use, to the minute, so that callers who share a token do not write to the same place all
// the time. Thread-safe.
class LastUse {
 public:
  void mark(Clock::Monotonic now) {
    if (now.time_since_epoch() - std::chrono::nanoseconds(at_.load(std::memory_order_relaxed)) < kCoarse) return;
    at_.store(std::chrono::nanoseconds(now.time_since_epoch()).count(), std::memory_order_relaxed);
  }
  // Returns nothing if the token was not used since this process started.
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

// The tokens that were made at runtime, by their hashes. Immutable: a change makes a new object.
class IssuedTokens {
 public:
  // A secret and the principal of its holder. A token has two secrets while it is being rotated.
  struct Entry {
    std::shared_ptr<const Principal> principal;
    std::shared_ptr<LastUse> use;
  };
  explicit IssuedTokens(std::vector<Entry> entries);

  // Returns the principal of a token, even if the token has expired, and notes the use. Returns null if the token is
  // unknown.
  std::shared_ptr<const Principal> find(const json::Digest& token, Clock::Monotonic now) const;
  bool knows(const json::Digest& token) const { return by_token_.contains(token); }
  // Returns null if no token has the name. Takes linear time, and does not count as a use of the token.
  std::shared_ptr<const Principal> find_name(std::string_view name) const;
  // Returns all principals, sorted by name.
  std::vector<std::shared_ptr<const Principal>> all() const;
  // Whether all holders are shown everything.
  bool are_alike() const { return are_alike_; }
  // Returns the principals whose secrets expire.
  const std::vector<std::shared_ptr<const Principal>>& expiring() const { return expiring_; }
  // See Principals::look_at.
  void look_at(const catalog::SnapshotPointer& snapshot) const;
  // Returns the keys of principals with a token that has not expired at `now`.
  std::unordered_set<std::string> keys_at(Clock::Wall now) const;

 private:
  std::unordered_map<json::Digest, Entry, DigestHash> by_token_;
  std::vector<std::shared_ptr<const Principal>> expiring_;
  std::unordered_set<const Permissions*> permissions_;  // of all of them
  bool are_alike_ = true;
};

}  // namespace proteus::gateway
