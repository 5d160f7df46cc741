#include "gateway/grants/oauth_servers.hpp"

#include <algorithm>

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "auth/oauth/dpop_prover.hpp"
#include "auth/oauth/run.hpp"
#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"
#include "gateway/grants/vault.hpp"
#include "store/private_file.hpp"

namespace proteus::gateway {
namespace {

using auth::oauth::Client;
using auth::oauth::Discovered;
using providers::OAuthGrant;
using providers::OAuthSettings;

constexpr std::chrono::minutes kAssertionLife{5};

Result<Secret> key_text(const OAuthSettings& settings) {
  if (!settings.client_key.empty()) return settings.client_key;
  auto text = store::read_private(settings.client_key_file, auth::PrivateKey::kMaxPem);
  if (!text) return std::unexpected(std::move(text.error()));
  while (text->ends_with('\n') || text->ends_with('\r'))
    text->pop_back();
  return Secret(std::move(*text));
}

// A refresh token that may have reached its server may have been used, whatever came back.
Refreshed failed(const Error& error, auth::oauth::Registered registered) {
  using enum Refreshed::Outcome;
  switch (error.kind()) {
    case ErrorKind::unauthenticated: return {.outcome = refused, .why = error.message()};
    case ErrorKind::not_found: {
      const bool is_gone = registered == auth::oauth::Registered::dynamically;
      return {.outcome = is_gone ? client_gone : unused, .why = error.message()};
    }
    case ErrorKind::timeout:
    case ErrorKind::interrupted:
    case ErrorKind::cancelled:
    case ErrorKind::too_large:
    case ErrorKind::protocol: return {.outcome = unknown, .why = error.message()};
    default: return {.outcome = unused, .why = error.message()};
  }
}

// A server that does not know the client of the settings refuses every request.
Error about_settings(Error error) {
  return error.kind() == ErrorKind::not_found ? errors::forbidden(error.message()) : error;
}

Grant made_of(const Discovered& discovered, Client client, auth::oauth::TokenAnswer tokens,
              std::optional<auth::oauth::DpopProver> prover) {
  Grant grant;
  grant.resource = discovered.resource;
  grant.server = discovered.server;
  grant.client = std::move(client);
  if (tokens.type == auth::oauth::TokenType::dpop && prover) grant.proof_key = prover->key();
  grant.tokens = std::move(tokens);
  return grant;
}

std::optional<auth::oauth::DpopProver> prover_for(const Discovered& discovered) {
  if (!discovered.requires_dpop) return std::nullopt;
  return auth::oauth::DpopProver();
}

auth::oauth::Scopes scopes_for(const OAuthSettings& settings, const Discovered& discovered) {
  return auth::oauth::first_scopes(discovered, settings.scopes, auth::oauth::Offline::no);
}

// Whether the owner is a user of the issuer. Its value is then issuer and subject, as in Principal::key.
bool is_issued_by(const GrantOwner& owner, std::string_view issuer) {
  return owner.value().size() > issuer.size() && owner.value().starts_with(issuer) &&
         owner.value()[issuer.size()] == '\n';
}

}  // namespace

void OAuthServers::set_upstreams(const std::vector<providers::UpstreamSettings>& settings) {
  std::map<GrantTarget, Settings> upstreams;
  for (const auto& each : settings) {
    if (each.authentication.is_oauth())
      upstreams.emplace(target_of(each), std::make_shared<const providers::UpstreamSettings>(each));
  }
  const std::scoped_lock lock(mutex_);
  upstreams_ = std::move(upstreams);
}

void OAuthServers::set_identity_clients(std::vector<IdentityClient> clients) {
  const std::scoped_lock lock(mutex_);
  identity_clients_ = std::move(clients);
}

std::vector<IdentityClient> OAuthServers::identity_clients() const {
  const std::scoped_lock lock(mutex_);
  return identity_clients_;
}

OAuthServers::Settings OAuthServers::find(const GrantTarget& target) const {
  const std::scoped_lock lock(mutex_);
  const auto found = upstreams_.find(target);
  return found == upstreams_.end() ? nullptr : found->second;
}

Result<std::optional<Client>> OAuthServers::configured_client(const OAuthSettings& settings) const {
  if (settings.client_id.empty()) return std::nullopt;
  Client client;
  client.issuer = settings.issuer;
  client.id = settings.client_id;
  if (settings.has_secret()) {
    auto secret = providers::client_secret(settings, environment_);
    if (!secret) return std::unexpected(std::move(secret.error()));
    client.secret = std::move(*secret);
  }
  if (settings.has_key() && settings.grant != OAuthGrant::jwt_bearer) {
    const auto text = key_text(settings);
    if (!text) return std::unexpected(text.error());
    auto key = auth::PrivateKey::read(*text);
    if (!key) return std::unexpected(std::move(key.error()).within("client_key_file"));
    client.key = std::move(*key);
  }
  return client;
}

Result<Client> OAuthServers::complete(const Grant& grant) const {
  Client client = grant.client;
  if (client.registered != auth::oauth::Registered::beforehand) return client;
  const auto settings = find(grant.target);
  if (!settings) return std::unexpected(errors::not_found("no upstream has this client any more"));
  auto configured = configured_client(settings->authentication.oauth);
  if (!configured) return std::unexpected(std::move(configured.error()));
  if (!*configured || (*configured)->id != client.id)
    return std::unexpected(errors::conflict("the client is configured otherwise now"));
  if ((*configured)->issuer.empty()) (*configured)->issuer = client.issuer;
  return std::move(**configured);
}

Task<Refreshed> OAuthServers::refresh(GrantPointer grant) {
  auto client = complete(*grant);
  if (!client) co_return Refreshed{.outcome = Refreshed::Outcome::unused, .why = client.error().message()};
  std::optional<auth::oauth::DpopProver> prover;
  if (grant->proof_key) prover.emplace(*grant->proof_key);
  auto answer = co_await auth::oauth::ask_for_token(
      fetch_, clock_, grant->server, std::move(*client),
      auth::oauth::refresh_grant(grant->tokens.refresh_token, grant->resource, grant->tokens.scopes),
      prover ? &*prover : nullptr);
  if (!answer) co_return failed(answer.error(), grant->client.registered);
  co_return Refreshed{.outcome = Refreshed::Outcome::renewed, .tokens = std::move(*answer)};
}

Task<Result<>> OAuthServers::revoke(GrantPointer grant) {
  const bool has_refresh = !grant->tokens.refresh_token.empty();
  const Secret& token = has_refresh ? grant->tokens.refresh_token : grant->tokens.access_token;
  if (token.empty()) co_return Result<>();
  if (grant->server.revocation_endpoint.empty())
    co_return std::unexpected(errors::unsupported("the authorization server offers no revocation"));
  auto client = complete(*grant);
  if (!client) co_return std::unexpected(std::move(client.error()));
  co_return co_await auth::oauth::revoke(fetch_, clock_, grant->server, std::move(*client), token,
                                         has_refresh ? "refresh_token" : "access_token");
}

Task<Result<std::string>> OAuthServers::issuer_now(GrantPointer grant, std::string challenge) {
  auto url = net::Url::parse(url_of(grant->target));
  if (!url) co_return std::unexpected(std::move(url.error()));
  const auto found =
      co_await auth::oauth::run(auth::oauth::Discovery(std::move(*url), auth::oauth::read_hints(challenge)), fetch_);
  if (!found) co_return std::unexpected(found.error());
  co_return found->issuer();
}

Obtaining OAuthServers::obtaining(const GrantTarget& target) const {
  const auto settings = find(target);
  if (!settings || !settings->authentication.oauth.is_automatic()) return Obtaining::by_person;
  return settings->authentication.oauth.grant == OAuthGrant::token_exchange ? Obtaining::by_caller_token
                                                                            : Obtaining::by_gateway;
}

Task<Result<Grant>> OAuthServers::obtain(GrantOwner owner, GrantTarget target, Secret caller_token) {
  const auto settings = find(target);
  if (!settings) co_return std::unexpected(errors::not_found("there is no such upstream any more"));
  const OAuthSettings& oauth = settings->authentication.oauth;
  if (oauth.grant == OAuthGrant::token_exchange)
    co_return co_await exchange(settings, std::move(owner), std::move(caller_token));
  if (oauth.grant == OAuthGrant::identity_assertion) co_return co_await follow_identity(settings, std::move(owner));
  auto discovered = co_await discover(settings);
  if (!discovered) co_return std::unexpected(std::move(discovered.error()));
  const auto scopes = scopes_for(oauth, *discovered);
  if (oauth.grant == OAuthGrant::client_credentials) {
    auto asked = auth::oauth::client_credentials_grant(discovered->resource, scopes);
    co_return co_await ask(settings, std::move(*discovered), std::move(asked));
  }
  const auto assertion = assertion_for(oauth, *discovered);
  if (!assertion) co_return std::unexpected(assertion.error());
  auto asked = auth::oauth::jwt_bearer_grant(*assertion, discovered->resource, scopes);
  co_return co_await ask(settings, std::move(*discovered), std::move(asked));
}

// Discovers by the upstream's own metadata. If that fails, the issuer of the settings is enough.
Task<Result<Discovered>> OAuthServers::discover(Settings settings) {
  const std::string& issuer = settings->authentication.oauth.issuer;
  auto url = net::Url::parse(settings->url);
  if (!url) co_return std::unexpected(std::move(url.error()));
  auto found = co_await auth::oauth::run(auth::oauth::Discovery(*url, {}, issuer), fetch_);
  if (found || issuer.empty()) co_return found;
  co_return co_await auth::oauth::run(auth::oauth::Discovery::of_issuer(issuer, settings->url), fetch_);
}

Task<Result<Grant>> OAuthServers::ask(Settings settings, Discovered discovered, auth::oauth::Grant asked) {
  auto client = configured_client(settings->authentication.oauth);
  if (!client) co_return std::unexpected(std::move(client.error()));
  // A workload is identified by its assertion alone.
  Client known = *client ? std::move(**client) : Client{.issuer = discovered.issuer(), .id = {}};
  if (known.issuer.empty()) known.issuer = discovered.issuer();
  auto prover = prover_for(discovered);
  auto answer = co_await auth::oauth::ask_for_token(fetch_, clock_, discovered.server, known, std::move(asked),
                                                    prover ? &*prover : nullptr);
  if (!answer) co_return std::unexpected(about_settings(std::move(answer.error())));
  Grant grant = made_of(discovered, std::move(known), std::move(*answer), std::move(prover));
  grant.upstream = settings->name;
  co_return grant;
}

// Exchanges a caller's token at the token's own issuer only, and never at one that an upstream names (SEC-01).
Task<Result<Grant>> OAuthServers::exchange(Settings settings, GrantOwner owner, Secret caller_token) {
  const OAuthSettings& oauth = settings->authentication.oauth;
  if (!is_issued_by(owner, oauth.issuer))
    co_return std::unexpected(errors::unauthenticated("the caller's token is not of the issuer that exchanges tokens"));
  auto at = co_await auth::oauth::run(auth::oauth::Discovery::of_issuer(oauth.issuer, settings->url), fetch_);
  if (!at) co_return std::unexpected(std::move(at.error()));
  auto asked =
      auth::oauth::token_exchange_grant(caller_token, auth::oauth::kAccessTokenType, settings->url, {}, oauth.scopes);
  co_return co_await ask(settings, std::move(*at), std::move(asked));
}

Task<Result<Grant>> OAuthServers::follow_identity(Settings settings, GrantOwner owner) {
  const OAuthSettings& oauth = settings->authentication.oauth;
  for (const IdentityClient& known : identity_clients()) {
    if (!is_issued_by(owner, known.issuer)) continue;
    const auto identity = vault_->find(owner, identity_target(known.issuer));
    if (!identity || identity->tokens.id_token.empty())
      co_return std::unexpected(errors::unauthenticated("the caller has not signed in at the identity provider here"));
    auto provider = co_await auth::oauth::run(auth::oauth::Discovery::of_issuer(known.issuer, settings->url), fetch_);
    if (!provider) co_return std::unexpected(std::move(provider.error()));
    auto discovered = co_await discover(settings);
    if (!discovered) co_return std::unexpected(std::move(discovered.error()));
    auto client = configured_client(oauth);
    if (!client) co_return std::unexpected(std::move(client.error()));
    if (!*client) co_return std::unexpected(errors::invalid("client_id is missing"));
    if ((*client)->issuer.empty()) (*client)->issuer = discovered->issuer();
    Client there;
    there.issuer = known.issuer;
    there.id = known.id;
    there.secret = known.secret;
    auto prover = prover_for(*discovered);
    auto answer = co_await auth::oauth::follow_chain(fetch_, clock_,
                                                     {.identity_provider = provider->server,
                                                      .client_there = std::move(there),
                                                      .id_token = identity->tokens.id_token,
                                                      .discovered = *discovered,
                                                      .client = **client,
                                                      .scopes = scopes_for(oauth, *discovered)},
                                                     prover ? &*prover : nullptr);
    if (!answer) co_return std::unexpected(about_settings(std::move(answer.error())));
    Grant grant = made_of(*discovered, std::move(**client), std::move(*answer), std::move(prover));
    grant.upstream = settings->name;
    co_return grant;
  }
  co_return std::unexpected(errors::unauthenticated("no identity provider with sign_in vouches for the caller"));
}

// Returns an assertion that is signed with the configured key. If the file holds no key, it holds the assertion itself:
// that of a workload, which the workload's platform renews.
Result<Secret> OAuthServers::assertion_for(const OAuthSettings& settings, const Discovered& discovered) const {
  auto text = key_text(settings);
  if (!text) return text;
  if (!text->reveal().contains("-----BEGIN")) return text;
  const auto key = auth::PrivateKey::read(*text);
  if (!key) return std::unexpected(Error(key.error()).within("client_key_file"));
  const auto now = std::chrono::system_clock::to_time_t(clock_.wall());
  const boost::json::object claims{{"iss", settings.client_id},
                                   {"sub", settings.client_id},
                                   {"aud", discovered.issuer()},
                                   {"iat", now},
                                   {"exp", now + std::chrono::seconds(kAssertionLife).count()},
                                   {"jti", base64_encode(random_bytes(16), Base64::url)}};
  return Secret(key->sign_token({{"typ", "JWT"}}, claims));
}

}  // namespace proteus::gateway
