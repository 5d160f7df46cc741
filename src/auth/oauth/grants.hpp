#pragma once

#include <span>
#include <string>
#include <string_view>

#include "auth/fetch/form.hpp"
#include "auth/oauth/authorization.hpp"
#include "auth/oauth/scopes.hpp"
#include "base/secret.hpp"

// What a token endpoint is sent for each grant. All name the resource (RFC 8707).
namespace proteus::auth::oauth {

struct Grant {
  std::string type;  // grant_type
  std::vector<std::pair<std::string, Secret>> fields = {};
  Scopes asked = {};  // what the answer grants where it does not say
  // What the answer must be: an access token, or an assertion for another server.
  std::string issued_token_type = {};
};

inline constexpr std::string_view kAccessTokenType = "urn:ietf:params:oauth:token-type:access_token";
inline constexpr std::string_view kIdTokenType = "urn:ietf:params:oauth:token-type:id_token";
inline constexpr std::string_view kIdentityAssertionType = "urn:ietf:params:oauth:token-type:id-jag";

Grant code_grant(const AuthorizationRequest& request, const Secret& code);
Grant refresh_grant(const Secret& refresh_token, std::string_view resource, std::span<const std::string> scopes);
Grant client_credentials_grant(std::string_view resource, std::span<const std::string> scopes);
// RFC 8693: the caller's token for one that is for the resource. `audience` may be empty.
Grant token_exchange_grant(const Secret& subject_token, std::string_view subject_token_type, std::string_view resource,
                           std::string_view audience, std::span<const std::string> scopes);
// An ID token for an assertion (ID-JAG) that the resource's own server takes, whose issuer is the audience.
Grant identity_assertion_grant(const Secret& id_token, std::string_view issuer, std::string_view resource,
                               std::span<const std::string> scopes);
// RFC 7523: an assertion for an access token; also that of a workload.
Grant jwt_bearer_grant(const Secret& assertion, std::string_view resource, std::span<const std::string> scopes);

}  // namespace proteus::auth::oauth
