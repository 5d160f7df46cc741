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

// Remembers the recently used proofs, so that none is used twice. Thread-safe, with a short lock: a proof may come back
// on any connection, and verifying its signature costs more anyway.
class ProofMemory {
 public:
  // About 90 bytes each; enough for 4,000 proofs a second, an eighth of them from one key.
  static constexpr std::size_t kCapacity = 500'000;
  static constexpr std::size_t kKeysAtLeast = 8;

  // `window` must be the window that proofs are checked with. A proof is remembered for twice as long, because its time
  // may lie in the future by up to `window`.
  explicit ProofMemory(std::size_t capacity = kCapacity, std::chrono::seconds window = std::chrono::seconds(60));

  // Fails with `conflict` if the proof was used before, and with `exhausted` if there is no room: a proof that is not
  // remembered could be used again. Each key has only a share of the room, so that its holder cannot lock out all
  // others.
  Result<> use(const Proof& proof, Clock::Monotonic now);
  std::size_t size() const;

 private:
  void forget_old(Clock::Monotonic now);

  const std::size_t capacity_;
  const std::chrono::seconds kept_for_;
  mutable std::mutex mutex_;
  std::unordered_set<json::Digest, DigestHash> used_;
  using Shares = std::unordered_map<std::string, std::size_t>;
  Shares by_key_;  // number of remembered proofs of each key
  struct Kept {
    Clock::Monotonic until;
    const json::Digest* proof;         // points into `used_`
    const Shares::value_type* of_key;  // points into `by_key_`
  };
  std::deque<Kept> order_;
};

}  // namespace proteus::auth
