#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "gateway/callers/principal.hpp"

namespace proteus::gateway {

// Who connects an upstream, and how they prove that it is them.
struct Person {
  enum class Kind : std::uint8_t {
    user,   // of a token: `key` is that of their grants
    admin,  // for the gateway itself: `key` is the name of an admin key, or of whom an identity provider vouches for
  };
  Kind kind = Kind::user;
  std::string key = {};
  // The identity provider that they sign in at; empty where they show a token or an admin key.
  std::string issuer = {};

  friend auto operator<=>(const Person&, const Person&) = default;
};

// The identity provider that vouches for a principal; empty for none.
std::string issuer_of(const Principal& principal);

}  // namespace proteus::gateway
