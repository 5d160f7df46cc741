// Converts a program's OAuth settings for the connection.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <proteus/client.hpp>

#include "auth/fetch/http_fetch.hpp"
#include "client/api/settings.hpp"
#include "net/http_client/proxy.hpp"

namespace proteus::client {
namespace {

using auth::oauth::Registered;

OAuthGrant grant_of(OAuth::Grant grant) {
  switch (grant) {
    case OAuth::Grant::authorization_code: return OAuthGrant::authorization_code;
    case OAuth::Grant::client_credentials: return OAuthGrant::client_credentials;
    case OAuth::Grant::jwt_bearer: return OAuthGrant::jwt_bearer;
    case OAuth::Grant::identity_assertion: return OAuthGrant::identity_assertion;
  }
  return OAuthGrant::authorization_code;
}

bool is_given(const Auth::Value& value) { return !value.text.empty() || !value.variable.empty(); }

Result<auth::oauth::Client> client_of(const OAuth::Client& given) {
  auth::oauth::Client client{.issuer = given.issuer, .id = given.id, .registered = Registered::beforehand};
  if (is_given(given.secret)) {
    auto secret = value_of(given.secret);
    if (!secret) return std::unexpected(std::move(secret.error()));
    client.secret = Secret(std::move(*secret));
  }
  if (is_given(given.key)) {
    auto pem = value_of(given.key);
    if (!pem) return std::unexpected(std::move(pem.error()));
    auto key = auth::PrivateKey::read(Secret(std::move(*pem)));
    if (!key) return std::unexpected(std::move(key.error()));
    client.key = std::move(*key);
  }
  return client;
}

// Returns what is missing for the grant; empty if nothing is.
std::string_view missing_in(const OAuth& oauth) {
  switch (oauth.grant) {
    case OAuth::Grant::authorization_code: return oauth.authorize && oauth.redirect_uri.empty() ? "a redirect URI" : "";
    case OAuth::Grant::client_credentials: return oauth.client.id.empty() ? "the id of a client" : "";
    case OAuth::Grant::jwt_bearer:
      if (oauth.client.id.empty()) return "the id of a client";
      return oauth.assertion ? "" : "an assertion";
    case OAuth::Grant::identity_assertion:
      if (oauth.client.id.empty() || oauth.identity_provider.id.empty()) return "the ids of two clients";
      if (oauth.identity_provider.issuer.empty()) return "the issuer of the identity provider";
      return oauth.assertion ? "" : "an ID token";
  }
  return "";
}

auth::oauth::ClientDescription description_of(const OAuth& oauth) {
  const auto redirect = net::Url::parse(oauth.redirect_uri);
  return {.name = oauth.client_name,
          .redirect_uris = {oauth.redirect_uri},
          .is_native = !redirect || net::is_loopback_host(redirect->host())};
}

// Wraps a function of the program so that it runs on the callback thread; null for an empty function.
std::function<Task<Result<std::string>>(std::string)> awaited(
    const std::function<Result<std::string>(const std::string&)>& function,
    const std::shared_ptr<CallbackThread>& thread, const std::weak_ptr<boost::asio::io_context>& io) {
  if (!function) return nullptr;
  return [function, thread, io](std::string argument) {
    return await_callback(thread, io, [function, argument = std::move(argument)] { return function(argument); }, 0);
  };
}

std::string load(const OAuth& oauth) {
  if (!oauth.load) return {};
  const CallbackScope inside;
  return oauth.load();
}

}  // namespace

Result<std::optional<OAuthOptions>> McpServer::Settings::oauth(const net::Url& endpoint,
                                                               const std::shared_ptr<CallbackThread>& thread,
                                                               const std::weak_ptr<boost::asio::io_context>& io) const {
  if (auth.scheme() != Auth::Scheme::oauth) return std::nullopt;
  if (!auth.oauth())
    return std::unexpected(errors::unauthenticated("the credentials are not there; a descriptor does not hold them"));
  const OAuth& given = *auth.oauth();
  if (const auto missing = missing_in(given); !missing.empty())
    return std::unexpected(errors::invalid("OAuth: " + std::string(missing) + " is missing"));
  OAuthOptions options{.endpoint = endpoint,
                       .grant = grant_of(given.grant),
                       .issuer = given.client.issuer,
                       .scopes = auth::oauth::united({}, given.scopes),
                       .client = {.document_url = given.client_document},
                       .redirect_uri = given.redirect_uri,
                       .authorize = awaited(given.authorize, thread, io),
                       .assertion = awaited(given.assertion, thread, io)};
  if (!given.client.id.empty()) {
    auto client = client_of(given.client);
    if (!client) return std::unexpected(std::move(client.error()).within("OAuth"));
    options.client.registered = std::move(*client);
  } else if (given.grant == OAuth::Grant::authorization_code && !given.redirect_uri.empty()) {
    options.client.description = description_of(given);
  }
  if (!given.identity_provider.id.empty()) {
    auto client = client_of(given.identity_provider);
    if (!client) return std::unexpected(std::move(client.error()).within("OAuth"));
    options.identity_provider = std::move(*client);
  }
  if (const std::string kept = load(given); !kept.empty()) {
    auto sign_in = read_sign_in(kept);
    if (!sign_in) return std::unexpected(std::move(sign_in.error()));
    options.kept = std::move(*sign_in);
  }
  if (given.save) {
    options.keep = [save = given.save](const SignIn& sign_in) {
      const CallbackScope inside;
      save(write_sign_in(sign_in).reveal());
    };
  }
  return options;
}

Result<> end_sign_in(const std::string& kept, const std::string& ca_file) {
  const auto sign_in = read_sign_in(kept);
  if (!sign_in) return std::unexpected(sign_in.error());
  const bool has_refresh = !sign_in->granted.refresh_token.empty();
  auto http_options = client_http_options(ca_file);
  if (!http_options) return std::unexpected(std::move(http_options.error()));
  boost::asio::io_context io(1);
  const SystemClock clock;
  net::HttpClient http(io, clock, std::move(*http_options));
  auth::HttpFetch fetch(http);
  Result<> ended = std::unexpected(errors::cancelled("the revocation"));
  boost::asio::co_spawn(
      io,
      auth::oauth::revoke(fetch, clock, sign_in->at.server, sign_in->client,
                          has_refresh ? sign_in->granted.refresh_token : sign_in->granted.access_token,
                          has_refresh ? "refresh_token" : "access_token"),
      [&](const std::exception_ptr& thrown, Result<> result) {
        if (!thrown) ended = std::move(result);
        http.close();
      });
  io.run();
  return ended;
}

}  // namespace proteus::client
