#include "providers/oauth_settings.hpp"

#include "catalog/contexts/scopes.hpp"

namespace proteus::providers {

std::string_view to_string(OauthGrant grant) {
  switch (grant) {
    case OauthGrant::authorization_code: return "authorization_code";
    case OauthGrant::client_credentials: return "client_credentials";
    case OauthGrant::token_exchange: return "token_exchange";
    case OauthGrant::identity_assertion: return "identity_assertion";
    case OauthGrant::jwt_bearer: return "jwt_bearer";
  }
  return "authorization_code";
}

Result<> check_scope(std::string_view scope) {
  if (catalog::is_scope(scope)) return {};
  return std::unexpected(errors::invalid("is no scope: printable characters, without spaces, quotes and backslashes"));
}

OauthSubject OauthSettings::effective_subject() const {
  if (subject) return *subject;
  const bool is_own = grant == OauthGrant::client_credentials || grant == OauthGrant::jwt_bearer;
  return is_own ? OauthSubject::gateway : OauthSubject::caller;
}

}  // namespace proteus::providers
