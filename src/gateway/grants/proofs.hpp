#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "auth/oauth/dpop_prover.hpp"
#include "base/clock.hpp"
#include "base/secrets/secret.hpp"
#include "net/http/url.hpp"

namespace proteus::gateway {

// Makes the proofs of possession of one grant for its upstream (UPC-12). Thread-safe.
class Proofs {
 public:
  Proofs(auth::PrivateKey key, net::Url upstream) : upstream_(std::move(upstream)), prover_(std::move(key)) {}

  std::string make(std::string_view method, const net::Url& url, Clock::Wall now, const Secret& token) {
    auth::oauth::DpopProver prover = copy();
    return prover.proof(method, url, now, token.reveal());
  }
  // Returns whether the nonce differs from the previous one.
  bool take_nonce(std::string_view nonce) {
    if (nonce.empty()) return false;
    const std::scoped_lock lock(mutex_);
    return prover_.take_nonce(upstream_, nonce);
  }

 private:
  // Signing takes too long to do it under the lock.
  auth::oauth::DpopProver copy() {
    const std::scoped_lock lock(mutex_);
    return prover_;
  }

  const net::Url upstream_;
  std::mutex mutex_;
  auth::oauth::DpopProver prover_;
};

}  // namespace proteus::gateway
