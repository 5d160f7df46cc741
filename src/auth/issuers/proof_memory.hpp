#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <proteus/error.hpp>

#include "auth/issuers/digest_hash.hpp"
#include "auth/tokens/dpop.hpp"
#include "base/clock.hpp"
#include "json/canonical.hpp"

namespace proteus::auth {

// The proofs that were used lately, so that none is used twice. Thread-safe, with a short lock: a proof may come back
// on any connection, and costs a signature anyway.
class ProofMemory {
 public:
  // Some 90 bytes each; enough for 4,000 proofs a second, an eighth of them of one key.
  static constexpr std::size_t kCapacity = 500'000;
  static constexpr std::size_t kKeysAtLeast = 8;

  // `window` is what proofs are checked with: one is remembered for twice as long, because it may be from the future by
  // as much.
  explicit ProofMemory(std::size_t capacity = kCapacity, std::chrono::seconds window = std::chrono::seconds(60));

  // Fails with `conflict` for one that was used before, and with `exhausted` where there is no room to remember it:
  // what cannot be remembered could be used again.
  // One key has a share of the room, so that its holder cannot keep out all others.
  Result<> use(const Proof& proof, Clock::Monotonic now);
  std::size_t size() const;

 private:
  void forget_old(Clock::Monotonic now);

  const std::size_t capacity_;
  const std::chrono::seconds kept_for_;
  mutable std::mutex mutex_;
  std::unordered_set<json::Digest, DigestHash> used_;
  using Shares = std::unordered_map<std::string, std::size_t>;
  Shares by_key_;  // how many of them each key has used
  struct Kept {
    Clock::Monotonic until;
    const json::Digest* proof;         // in there
    const Shares::value_type* of_key;  // likewise
  };
  std::deque<Kept> order_;
};

}  // namespace proteus::auth
