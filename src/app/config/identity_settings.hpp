#pragma once

#include <string>
#include <vector>

#include "auth/issuers/settings.hpp"
#include "base/secrets/secret.hpp"
#include "gateway/identity/identities.hpp"
#include "json/binding.hpp"

// [[auth.issuers]] and [[auth.rules]]: callers who authenticate with an identity provider.
namespace proteus::app {

// The gateway's client credentials at an issuer.
struct ClientSettings {
  std::string client_id;
  std::string client_secret_env;
  Secret client_secret;  // value of the variable; not a key

  friend bool operator==(const ClientSettings&, const ClientSettings&) = default;
};

struct IssuerSettings {
  std::string issuer;
  std::vector<std::string> audience;
  std::string jwks_url;
  std::vector<auth::Algorithm> algorithms = {auth::kAlgorithms.begin(), auth::kAlgorithms.end()};
  std::vector<std::string> scopes;
  std::chrono::milliseconds leeway = std::chrono::seconds(30);
  auth::Dpop dpop = auth::Dpop::accept;
  ClientSettings introspection;
  ClientSettings sign_in;
  auth::ImpliedScopes implies;

  friend bool operator==(const IssuerSettings&, const IssuerSettings&) = default;
};

const json::Binding<IssuerSettings>& issuer_binding();

gateway::IdentitySettings identity_settings(const std::vector<IssuerSettings>& issuers,
                                            const std::vector<gateway::Rule>& rules);

}  // namespace proteus::app
