#include "providers/oauth_settings.hpp"

#include "catalog/contexts/scopes.hpp"

namespace proteus::providers {

std::string_view to_string(OAuthGrant grant) {
  switch (grant) {
    case OAuthGrant::authorization_code: return "authorization_code";
    case OAuthGrant::client_credentials: return "client_credentials";
    case OAuthGrant::token_exchange: return "token_exchange";
    case OAuthGrant::identity_assertion: return "identity_assertion";
    case OAuthGrant::jwt_bearer: return "jwt_bearer";
  }
  return "authorization_code";
}

Result<> check_scope(std::string_view scope) {
  if (catalog::is_scope(scope)) return {};
  return std::unexpected(errors::invalid("is no scope: printable characters, without spaces, quotes and backslashes"));
}

OAuthSubject OAuthSettings::effective_subject() const {
  if (subject) return *subject;
  const bool is_own = grant == OAuthGrant::client_credentials || grant == OAuthGrant::jwt_bearer;
  return is_own ? OAuthSubject::gateway : OAuthSubject::caller;
}

}  // namespace proteus::providers
