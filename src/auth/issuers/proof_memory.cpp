#include "auth/issuers/proof_memory.hpp"

#include "json/canonical.hpp"

namespace proteus::auth {

ProofMemory::ProofMemory(std::size_t capacity, std::chrono::seconds window)
    : capacity_(capacity), kept_for_(2 * window) {}

Result<> ProofMemory::use(const Proof& proof, Clock::Monotonic now) {
  // A thumbprint has no zero byte, so that no two proofs give the same text.
  const json::Digest digest = json::sha256(proof.thumbprint + '\0' + proof.id);
  const std::scoped_lock lock(mutex_);
  forget_old(now);
  std::string key(digest.begin(), digest.end());
  if (used_.contains(key)) return std::unexpected(errors::conflict("the proof was used before"));
  if (used_.size() >= capacity_)
    return std::unexpected(errors::exhausted("there is no room to remember more proofs; try again in a minute"));
  order_.emplace_back(now + kept_for_, &*used_.insert(std::move(key)).first);
  return {};
}

void ProofMemory::forget_old(Clock::Monotonic now) {
  while (!order_.empty() && order_.front().first < now) {
    used_.erase(used_.find(*order_.front().second));
    order_.pop_front();
  }
}

std::size_t ProofMemory::size() const {
  const std::scoped_lock lock(mutex_);
  return used_.size();
}

}  // namespace proteus::auth
