#include "auth/issuers/proof_memory.hpp"

#include <algorithm>

namespace proteus::auth {

ProofMemory::ProofMemory(std::size_t capacity, std::chrono::seconds window)
    : capacity_(capacity), kept_for_(2 * window) {}

Result<> ProofMemory::use(const Proof& proof, Clock::Monotonic now) {
  // A thumbprint contains no zero byte, so that different proofs give different texts.
  const json::Digest digest = json::sha256(proof.thumbprint + '\0' + proof.id);
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  if (used_.contains(digest)) return std::unexpected(errors::conflict("the proof was used before"));
  const auto share = by_key_.find(proof.thumbprint);
  const bool is_greedy = share != by_key_.end() && share->second >= std::max<std::size_t>(1, capacity_ / kKeysAtLeast);
  if (used_.size() >= capacity_ || is_greedy)
    return std::unexpected(errors::exhausted("there is no room to remember more proofs; try again in a minute"));
  auto& of_key = *by_key_.try_emplace(proof.thumbprint).first;
  ++of_key.second;
  order_.push_back({now + kept_for_, &*used_.insert(digest).first, &of_key});
  return {};
}

// Forgets a few at a time, but more than arrive, so that no caller waits until a whole burst is freed.
void ProofMemory::forget_old(Clock::Monotonic now) {
  constexpr int kAtOnce = 16;
  for (int i = 0; i < kAtOnce && !order_.empty() && order_.front().until < now; ++i) {
    const Kept oldest = order_.front();
    order_.pop_front();
    used_.erase(used_.find(*oldest.proof));
    const auto share = by_key_.find(oldest.of_key->first);
    if (--share->second == 0) by_key_.erase(share);
  }
}

std::size_t ProofMemory::size() const {
  const std::scoped_lock lock(mutex_);
  return used_.size();
}

}  // namespace proteus::auth
