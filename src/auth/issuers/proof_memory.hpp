#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <unordered_set>
#include <utility>

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
  // Some 80 bytes each; enough for 4,000 proofs a second.
  static constexpr std::size_t kCapacity = 500'000;

  // `window` is what proofs are checked with: one is remembered for twice as long, because it may be from the future by
  // as much.
  explicit ProofMemory(std::size_t capacity = kCapacity, std::chrono::seconds window = std::chrono::seconds(60));

  // Fails with `conflict` for one that was used before, and with `exhausted` where there is no room to remember it:
  // what cannot be remembered could be used again.
  Result<> use(const Proof& proof, Clock::Monotonic now);
  std::size_t size() const;

 private:
  void forget_old(Clock::Monotonic now);

  const std::size_t capacity_;
  const std::chrono::seconds kept_for_;
  mutable std::mutex mutex_;
  std::unordered_set<json::Digest, DigestHash> used_;
  std::deque<std::pair<Clock::Monotonic, const json::Digest*>> order_;  // until when each is kept, which is in there
};

}  // namespace proteus::auth
