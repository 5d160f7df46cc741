#include "app/config/identity_settings.hpp"

#include <algorithm>

#include "app/config/url_check.hpp"
#include "base/settings/environment.hpp"

namespace proteus::app {
namespace {

using json::field;
using json::text;

constexpr std::size_t kMaxScopes = 1000;

json::Codec<std::string> secret_variable() {
  return text({.max_bytes = 256, .check = check_variable_name, .when_empty = json::WhenEmpty::left_out});
}

// RFC 6749, section 3.3
Result<> check_scope_name(std::string_view scope) {
  const auto fits = [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; };
  if (scope.empty() || !std::ranges::all_of(scope, fits))
    return std::unexpected(errors::invalid("must be a scope: visible characters, without quotes and backslashes"));
  return {};
}

json::Codec<std::vector<std::string>> scopes() {
  return json::list(text({.max_bytes = 256, .check = check_scope_name}), "strings", {.least = 0, .most = kMaxScopes});
}

json::Codec<std::vector<auth::Algorithm>> algorithms() {
  std::vector<std::pair<std::string, auth::Algorithm>> words;
  words.reserve(auth::kAlgorithms.size());
  for (const auth::Algorithm algorithm : auth::kAlgorithms)
    words.emplace_back(to_string(algorithm), algorithm);
  return json::list(json::choice<auth::Algorithm>(std::move(words)), "strings", {.least = 1, .most = 16});
}

const json::Binding<ClientSettings>& client_binding() {
  using S = ClientSettings;
  static const json::Binding<S> binding{
      field("client_id", &S::client_id, text({.max_bytes = 1024}), "Proteus's client id at the issuer."),
      field("client_secret_env", &S::client_secret_env, secret_variable(),
            "Environment variable that holds the secret."),
  };
  return binding;
}

void check_client(const ClientSettings& client, const json::Place& place) {
  if (client.client_id.empty() && !client.client_secret_env.empty()) place.fault("needs a client_id");
}

auth::ClientCredentials credentials_of(const ClientSettings& client) {
  return {.client_id = client.client_id, .client_secret = client.client_secret};
}

}  // namespace

const json::Binding<IssuerSettings>& issuer_binding() {
  using S = IssuerSettings;
  static const json::Binding<S> binding{
      field("issuer", &S::issuer, text({.check = check_issuer_url}),
            "URL of the issuer, byte for byte as in its metadata and in `iss`.")
          .required(),
      field("audience", &S::audience, json::list(text(), "strings"),
            "Audiences that tokens may have instead, if the issuer does not use the URLs of resources.")
          .by_default("public URLs of the endpoints"),
      field("jwks_url", &S::jwks_url, text({.check = check_url}), "URL of the issuer's keys.")
          .by_default("from the issuer's metadata"),
      field("algorithms", &S::algorithms, algorithms(), "Signatures to accept."),
      field("scopes", &S::scopes, scopes(), "Scopes that Proteus tells clients to request."),
      field("leeway", &S::leeway, json::duration(json::Zero::allowed), "How much clocks may differ, at most 10m."),
      field("dpop", &S::dpop,
            json::choice<auth::Dpop>(
                {{"accept", auth::Dpop::accept}, {"require", auth::Dpop::require}, {"off", auth::Dpop::off}}),
            "Tokens bound to a key (RFC 9449). A bound token is never accepted without its proof."),
      field("introspection", &S::introspection, json::table<ClientSettings>(client_binding(), check_client),
            "Ask this issuer about tokens that are not JWTs; one issuer at most."),
      field("sign_in", &S::sign_in, json::table<ClientSettings>(client_binding(), check_client),
            "Client credentials for people who sign in with this issuer in a browser."),
      field("implies", &S::implies, json::map(scopes(), "lists of strings", check_scope_name),
            "Scopes that include others: `{ admin = [\"tools\"] }`."),
  };
  return binding;
}

gateway::IdentitySettings identity_settings(const std::vector<IssuerSettings>& issuers,
                                            const std::vector<gateway::Rule>& rules) {
  gateway::IdentitySettings settings{.issuers = {}, .rules = rules};
  settings.issuers.reserve(issuers.size());
  for (const IssuerSettings& each : issuers) {
    settings.issuers.push_back({.issuer = each.issuer,
                                .audiences = each.audience,
                                .jwks_url = each.jwks_url,
                                .algorithms = each.algorithms,
                                .scopes = each.scopes,
                                .leeway = each.leeway,
                                .dpop = each.dpop,
                                .introspection = credentials_of(each.introspection),
                                .sign_in = credentials_of(each.sign_in),
                                .implies = each.implies});
  }
  return settings;
}

}  // namespace proteus::app
