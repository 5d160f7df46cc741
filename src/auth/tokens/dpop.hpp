#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "auth/tokens/algorithm.hpp"
#include "base/clock.hpp"

namespace proteus::auth {

// What a proof of possession (RFC 9449) must match.
struct ProofRules {
  std::string_view method;
  std::string_view url;         // of the request, as clients know it; query and fragment are ignored
  std::string_view token;       // the token that comes with the proof
  std::string_view thumbprint;  // of the key that the token is bound to
  Clock::Wall now;
  std::chrono::seconds window = std::chrono::seconds(60);  // maximum age, and how far a clock may be ahead
  std::span<const Algorithm> algorithms = kAlgorithms;
  std::string_view nonce = {};  // that the proof must contain; empty accepts any
};

// A valid proof. The caller must reject proofs that were used before.
struct Proof {
  std::string thumbprint;
  std::string id;  // `jti`
};

// Fails with `unauthenticated`. The proof brings its own key, which counts only because the token is bound to that key.
Result<Proof> check_proof(std::string_view proof, const ProofRules& rules);

}  // namespace proteus::auth
