#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "gateway/callers/principal.hpp"

namespace proteus::gateway {

// The person who connects an upstream, and how they prove who they are.
struct Person {
  enum class Kind : std::uint8_t {
    user,   // has a token or an account; `key` is the owner of their grants
    admin,  // connects for the gateway itself; `key` is the name of an admin key, or of an operator of an identity
            // provider
  };
  Kind kind = Kind::user;
  std::string key = {};
  // The identity provider at which they sign in; empty if they enter a token or an admin key.
  std::string issuer = {};

  friend auto operator<=>(const Person&, const Person&) = default;
};

// Returns the identity provider that vouches for a principal; empty if there is none.
std::string issuer_of(const Principal& principal);

}  // namespace proteus::gateway
