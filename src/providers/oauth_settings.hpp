#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"

namespace proteus::providers {

// How Proteus obtains a token for an upstream.
enum class OAuthGrant : std::uint8_t {
  authorization_code,
  client_credentials,
  token_exchange,
  identity_assertion,
  jwt_bearer,
};
// Whose token the requests carry.
enum class OAuthSubject : std::uint8_t { caller, gateway };

std::string_view to_string(OAuthGrant grant);

// Fails if the text is not a scope.
Result<> check_scope(std::string_view scope);

// `authentication` of type "oauth".
struct OAuthSettings {
  OAuthGrant grant = OAuthGrant::authorization_code;
  std::optional<OAuthSubject> subject = {};  // the default depends on the grant
  std::vector<std::string> scopes = {};
  std::string issuer = {};  // if empty, the one that the upstream names
  std::string client_id = {};
  std::string client_secret_env = {};
  std::string client_key_file = {};
  Secret client_secret = {};
  Secret client_key = {};

  OAuthSubject effective_subject() const;
  // Whether the grant is any but `authorization_code`, for which a person signs in at the authorization server.
  bool is_automatic() const { return grant != OAuthGrant::authorization_code; }
  bool has_secret() const { return !client_secret_env.empty() || !client_secret.empty(); }
  bool has_key() const { return !client_key_file.empty() || !client_key.empty(); }

  friend bool operator==(const OAuthSettings&, const OAuthSettings&) = default;
};

}  // namespace proteus::providers
