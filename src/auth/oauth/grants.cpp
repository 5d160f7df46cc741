#include "auth/oauth/grants.hpp"

namespace proteus::auth::oauth {
namespace {

Scopes copied(std::span<const std::string> scopes) { return {scopes.begin(), scopes.end()}; }

void add(Grant& grant, std::string_view name, std::string_view value) {
  grant.fields.emplace_back(name, Secret(std::string(value)));
}

Grant with_scope(std::string type, std::string_view resource, std::span<const std::string> scopes) {
  Grant grant{.type = std::move(type), .asked = copied(scopes)};
  add(grant, "resource", resource);
  add(grant, "scope", write_scopes(scopes));
  return grant;
}

constexpr const char* kTokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange";
constexpr const char* kJwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";

}  // namespace

Grant code_grant(const AuthorizationRequest& request, const Secret& code) {
  Grant grant{.type = "authorization_code", .asked = request.scopes};
  grant.fields.emplace_back("code", code);
  grant.fields.emplace_back("code_verifier", request.verifier);
  add(grant, "redirect_uri", request.redirect_uri);
  add(grant, "resource", request.resource);
  return grant;
}

Grant refresh_grant(const Secret& refresh_token, std::string_view resource, std::span<const std::string> scopes) {
  // Without `scope`, the server grants the same scopes as before (RFC 6749, section 6).
  Grant grant{.type = "refresh_token", .asked = copied(scopes)};
  grant.fields.emplace_back("refresh_token", refresh_token);
  add(grant, "resource", resource);
  return grant;
}

Grant client_credentials_grant(std::string_view resource, std::span<const std::string> scopes) {
  return with_scope("client_credentials", resource, scopes);
}

Grant token_exchange_grant(const Secret& subject_token, std::string_view subject_token_type, std::string_view resource,
                           std::string_view audience, std::span<const std::string> scopes) {
  Grant grant = with_scope(kTokenExchange, resource, scopes);
  grant.fields.emplace_back("subject_token", subject_token);
  add(grant, "subject_token_type", subject_token_type);
  add(grant, "requested_token_type", kAccessTokenType);
  add(grant, "audience", audience);
  grant.issued_token_type = kAccessTokenType;
  return grant;
}

Grant identity_assertion_grant(const Secret& id_token, std::string_view issuer, std::string_view resource,
                               std::span<const std::string> scopes) {
  Grant grant = with_scope(kTokenExchange, resource, scopes);
  grant.fields.emplace_back("subject_token", id_token);
  add(grant, "subject_token_type", kIdTokenType);
  add(grant, "requested_token_type", kIdentityAssertionType);
  add(grant, "audience", issuer);
  grant.issued_token_type = kIdentityAssertionType;
  return grant;
}

Grant jwt_bearer_grant(const Secret& assertion, std::string_view resource, std::span<const std::string> scopes) {
  Grant grant = with_scope(kJwtBearer, resource, scopes);
  grant.fields.emplace_back("assertion", assertion);
  return grant;
}

}  // namespace proteus::auth::oauth
