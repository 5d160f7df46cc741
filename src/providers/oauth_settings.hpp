#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/secret.hpp"

namespace proteus::providers {

// How a token for an upstream is got.
enum class OauthGrant : std::uint8_t {
  authorization_code,
  client_credentials,
  token_exchange,
  identity_assertion,
  jwt_bearer,
};
// As whom requests are made.
enum class OauthSubject : std::uint8_t { caller, gateway };

std::string_view to_string(OauthGrant grant);

// What is wrong with a scope.
Result<> check_scope(std::string_view scope);

// `authentication` of type "oauth".
struct OauthSettings {
  OauthGrant grant = OauthGrant::authorization_code;
  std::optional<OauthSubject> subject = {};  // whoever the grant is about where not given
  std::vector<std::string> scopes = {};
  std::string issuer = {};  // found out where empty
  std::string client_id = {};
  std::string client_secret_env = {};
  std::string client_key_file = {};
  Secret client_secret = {};
  Secret client_key = {};

  OauthSubject effective_subject() const;
  // Whether tokens are got without anybody's help.
  bool is_automatic() const { return grant != OauthGrant::authorization_code; }
  bool has_secret() const { return !client_secret_env.empty() || !client_secret.empty(); }
  bool has_key() const { return !client_key_file.empty() || !client_key.empty(); }

  friend bool operator==(const OauthSettings&, const OauthSettings&) = default;
};

}  // namespace proteus::providers
