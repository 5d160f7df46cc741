#include "auth/oauth/authorization.hpp"

#include <algorithm>
#include <utility>

#include "auth/fetch/form.hpp"
#include "auth/oauth/server_error.hpp"
#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"
#include "json/canonical.hpp"

namespace proteus::auth::oauth {
namespace {

constexpr std::size_t kMaxCode = 8192;

std::string random_text() { return base64_encode(random_bytes(32), Base64::url); }

}  // namespace

std::string code_challenge(std::string_view verifier) { return json::base64url(json::sha256(verifier)); }

Result<AuthorizationRequest> begin_authorization(const Discovered& discovered, const Client& client,
                                                 const AuthorizationSettings& settings) {
  const ServerMetadata& server = discovered.server;
  if (client.issuer != server.issuer) return std::unexpected(errors::forbidden("the client belongs to another issuer"));
  if (server.authorization_endpoint.empty())
    return std::unexpected(errors::unsupported("the authorization server has no authorization endpoint"));
  const auto endpoint = safe_url(server.authorization_endpoint, "the authorization endpoint");
  if (!endpoint) return std::unexpected(endpoint.error());
  if (!has_text(server.code_challenge_methods, "S256"))
    return std::unexpected(errors::unsupported("the authorization server does not say that it takes PKCE with S256"));
  AuthorizationRequest request{.url = endpoint->text(),
                               .state = settings.state.empty() ? random_text() : settings.state,
                               .verifier = Secret(random_text()),
                               .nonce = has_text(settings.scopes, "openid") ? random_text() : "",
                               .issuer = server.issuer,
                               .expects_issuer = server.names_issuer_in_responses,
                               .client_id = client.id,
                               .redirect_uri = settings.redirect_uri,
                               .resource = discovered.resource,
                               .scopes = settings.scopes};
  std::string query;
  append_form(query, "response_type", "code");
  append_form(query, "client_id", request.client_id);
  append_form(query, "redirect_uri", request.redirect_uri);
  append_form(query, "scope", write_scopes(request.scopes));
  append_form(query, "state", request.state);
  append_form(query, "nonce", request.nonce);
  append_form(query, "code_challenge", code_challenge(request.verifier.reveal()));
  append_form(query, "code_challenge_method", "S256");
  append_form(query, "resource", request.resource);
  append_form(query, "dpop_jkt", settings.dpop_thumbprint);
  // OpenID Connect, section 11: some servers give a refresh token only if consent was requested.
  if (has_text(request.scopes, "offline_access")) append_form(query, "prompt", "consent");
  request.url += request.url.contains('?') ? "&" : "?";
  request.url += query;
  return request;
}

Result<Callback> read_callback(std::string_view query) {
  if (query.starts_with('?')) query.remove_prefix(1);
  const auto form = read_form(query);
  if (!form) return std::unexpected(form.error());
  Callback callback;
  for (const auto& [name, onto] :
       {std::pair("state", &callback.state), std::pair("code", &callback.code), std::pair("iss", &callback.issuer),
        std::pair("error", &callback.error), std::pair("error_description", &callback.error_description)}) {
    *onto = find_in(*form, name);
  }
  callback.has_issuer = std::ranges::any_of(*form, [](const auto& field) { return field.first == "iss"; });
  if (callback.code.size() > kMaxCode) return std::unexpected(errors::too_large("a code", kMaxCode));
  return callback;
}

Result<> check_sender(const Callback& callback, const AuthorizationRequest& request) {
  if (request.state.empty() || !equal_in_constant_time(callback.state, request.state))
    return std::unexpected(errors::forbidden("the callback is not the answer to this sign-in"));
  if (callback.has_issuer ? callback.issuer != request.issuer : request.expects_issuer)
    return std::unexpected(errors::forbidden("the callback is not of the authorization server that was asked"));
  return {};
}

Result<Secret> judge_callback(const Callback& callback, const AuthorizationRequest& request) {
  if (auto sent = check_sender(callback, request); !sent) return std::unexpected(std::move(sent.error()));
  if (!callback.error.empty()) return std::unexpected(server_error(callback.error, callback.error_description));
  if (callback.code.empty()) return std::unexpected(errors::protocol("the callback has neither a code nor an error"));
  return Secret(callback.code);
}

}  // namespace proteus::auth::oauth
