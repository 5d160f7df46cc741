#include "auth/issuers/proof_memory.hpp"

namespace proteus::auth {

ProofMemory::ProofMemory(std::size_t capacity, std::chrono::seconds window)
    : capacity_(capacity), kept_for_(2 * window) {}

Result<> ProofMemory::use(const Proof& proof, Clock::Monotonic now) {
  // A thumbprint has no zero byte, so that no two proofs give the same text.
  const json::Digest digest = json::sha256(proof.thumbprint + '\0' + proof.id);
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  if (used_.contains(digest)) return std::unexpected(errors::conflict("the proof was used before"));
  if (used_.size() >= capacity_)
    return std::unexpected(errors::exhausted("there is no room to remember more proofs; try again in a minute"));
  order_.emplace_back(now + kept_for_, &*used_.insert(digest).first);
  return {};
}

// Some at a time, and more than come: no caller waits until a whole burst of them is given back.
void ProofMemory::forget_old(Clock::Monotonic now) {
  constexpr int kAtOnce = 16;
  for (int i = 0; i < kAtOnce && !order_.empty() && order_.front().first < now; ++i) {
    used_.erase(used_.find(*order_.front().second));
    order_.pop_front();
  }
}

std::size_t ProofMemory::size() const {
  const std::scoped_lock lock(mutex_);
  return used_.size();
}

}  // namespace proteus::auth
