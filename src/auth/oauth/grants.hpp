#pragma once

#include <span>
#include <string>
#include <string_view>

#include "auth/fetch/form.hpp"
#include "auth/oauth/authorization.hpp"
#include "auth/oauth/scopes.hpp"
#include "base/secrets/secret.hpp"

// The parameters that each grant sends to a token endpoint. All grants name the resource (RFC 8707).
namespace proteus::auth::oauth {

struct Grant {
  std::string type;  // grant_type
  std::vector<std::pair<std::string, Secret>> fields = {};
  Scopes asked = {};  // requested scopes, which are granted if the answer names none
  // Required `issued_token_type` of the answer: an access token, or an assertion for another server. Empty: any.
  std::string issued_token_type = {};
};

inline constexpr std::string_view kAccessTokenType = "urn:ietf:params:oauth:token-type:access_token";
inline constexpr std::string_view kIdTokenType = "urn:ietf:params:oauth:token-type:id_token";
inline constexpr std::string_view kIdentityAssertionType = "urn:ietf:params:oauth:token-type:id-jag";

Grant code_grant(const AuthorizationRequest& request, const Secret& code);
Grant refresh_grant(const Secret& refresh_token, std::string_view resource, std::span<const std::string> scopes);
Grant client_credentials_grant(std::string_view resource, std::span<const std::string> scopes);
// RFC 8693: exchanges the caller's token for one for the resource. `audience` may be empty.
Grant token_exchange_grant(const Secret& subject_token, std::string_view subject_token_type, std::string_view resource,
                           std::string_view audience, std::span<const std::string> scopes);
// Exchanges an ID token for an assertion (ID-JAG) that the resource's own server accepts. `issuer` is the issuer of
// that server.
Grant identity_assertion_grant(const Secret& id_token, std::string_view issuer, std::string_view resource,
                               std::span<const std::string> scopes);
// RFC 7523: exchanges an assertion, also that of a workload, for an access token.
Grant jwt_bearer_grant(const Secret& assertion, std::string_view resource, std::span<const std::string> scopes);

}  // namespace proteus::auth::oauth
