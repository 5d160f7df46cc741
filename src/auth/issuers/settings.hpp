#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "auth/tokens/algorithm.hpp"
#include "base/secrets/secret.hpp"

namespace proteus::auth {

// Whether tokens that are bound to a key (RFC 9449) are accepted. With every setting, a bound token is rejected without
// a proof.
enum class Dpop : std::uint8_t { accept, require, off };

// The gateway's client credentials at an issuer.
struct ClientCredentials {
  std::string client_id;
  Secret client_secret;

  bool are_given() const { return !client_id.empty(); }
  friend bool operator==(const ClientCredentials&, const ClientCredentials&) = default;
};

// Scopes, and the scopes that each of them includes.
using ImpliedScopes = std::map<std::string, std::vector<std::string>>;

// One entry of [[auth.issuers]].
struct IssuerSettings {
  std::string issuer;
  std::vector<std::string> audiences = {};  // instead of the URLs of the endpoints
  std::string jwks_url = {};                // instead of the URL in the issuer's metadata
  std::vector<Algorithm> algorithms = {kAlgorithms.begin(), kAlgorithms.end()};
  std::vector<std::string> scopes = {};
  std::chrono::milliseconds leeway = std::chrono::seconds(30);
  Dpop dpop = Dpop::accept;
  ClientCredentials introspection = {};  // for opaque tokens
  ClientCredentials sign_in = {};        // for the sign-in of people
  ImpliedScopes implies = {};

  friend bool operator==(const IssuerSettings&, const IssuerSettings&) = default;
};

// Returns the scopes and all that they include, directly or not, in order and without duplicates.
std::vector<std::string> with_implied(std::span<const std::string> scopes, const ImpliedScopes& implies);

}  // namespace proteus::auth
