#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "auth/tokens/algorithm.hpp"
#include "base/clock.hpp"

namespace proteus::auth {

// What a proof of possession (RFC 9449) must be about.
struct ProofRules {
  std::string_view method;
  std::string_view url;         // of the request, as clients know it; query and fragment do not count
  std::string_view token;       // that it comes with
  std::string_view thumbprint;  // of the key that the token is bound to
  Clock::Wall now;
  std::chrono::seconds window = std::chrono::seconds(60);  // how old it may be, and how far a clock may be ahead
  std::span<const Algorithm> algorithms = kAlgorithms;
  std::string_view nonce = {};  // that it must have; empty for any
};

// A sound proof. Whoever keeps these finds those that come twice.
struct Proof {
  std::string thumbprint;
  std::string id;  // `jti`
};

// Fails with `unauthenticated`. The proof carries its key, which counts only because the token is bound to it.
Result<Proof> check_proof(std::string_view proof, const ProofRules& rules);

}  // namespace proteus::auth
