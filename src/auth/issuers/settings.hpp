#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "auth/tokens/algorithm.hpp"
#include "base/secret.hpp"

namespace proteus::auth {

// Whether tokens that are bound to a key (RFC 9449) are taken. However this is set, one that is bound is never taken
// without a proof.
enum class Dpop : std::uint8_t { accept, require, off };

// What the gateway is known by at an issuer.
struct ClientCredentials {
  std::string client_id;
  Secret client_secret;

  bool are_given() const { return !client_id.empty(); }
  friend bool operator==(const ClientCredentials&, const ClientCredentials&) = default;
};

// Scopes, and those that each of them includes.
using ImpliedScopes = std::map<std::string, std::vector<std::string>>;

// One of [[auth.issuers]].
struct IssuerSettings {
  std::string issuer;
  std::vector<std::string> audiences = {};  // instead of the URLs of the endpoints
  std::string jwks_url = {};                // instead of what the issuer's metadata say
  std::vector<Algorithm> algorithms = {kAlgorithms.begin(), kAlgorithms.end()};
  std::vector<std::string> scopes = {};
  std::chrono::milliseconds leeway = std::chrono::seconds(30);
  Dpop dpop = Dpop::accept;
  ClientCredentials introspection = {};  // for opaque tokens
  ClientCredentials sign_in = {};        // for people
  ImpliedScopes implies = {};

  friend bool operator==(const IssuerSettings&, const IssuerSettings&) = default;
};

// What is wrong with one, or with all of them: an issuer must be a URL, be there once, and accept some algorithm; only
// one can be asked about opaque tokens, because those do not say whose they are.
Result<> check_issuer(const IssuerSettings& issuer);
Result<> check_issuers(std::span<const IssuerSettings> issuers);

// The scopes with all that they include, directly or not, in order and each once.
std::vector<std::string> with_implied(std::span<const std::string> scopes, const ImpliedScopes& implies);

}  // namespace proteus::auth
