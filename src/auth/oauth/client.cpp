#include "auth/oauth/client.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "auth/oauth/server_error.hpp"
#include "auth/tokens/document.hpp"
#include "base/log/log.hpp"
#include "json/text.hpp"

namespace proteus::auth::oauth {
namespace {

constexpr std::array kMethods = {std::pair(ClientAuthentication::none, std::string_view("none")),
                                 std::pair(ClientAuthentication::secret_basic, std::string_view("client_secret_basic")),
                                 std::pair(ClientAuthentication::secret_post, std::string_view("client_secret_post")),
                                 std::pair(ClientAuthentication::private_key, std::string_view("private_key_jwt"))};

boost::json::object members_of(const ClientDescription& client) {
  boost::json::array redirects(client.redirect_uris.begin(), client.redirect_uris.end());
  boost::json::object members = {{"client_name", client.name},
                                 {"redirect_uris", std::move(redirects)},
                                 {"grant_types", {"authorization_code", "refresh_token"}},
                                 {"response_types", {"code"}},
                                 {"application_type", client.is_native ? "native" : "web"}};
  if (!client.uri.empty()) members["client_uri"] = client.uri;
  if (!client.scopes.empty()) members["scope"] = write_scopes(client.scopes);
  return members;
}

// Returns the method to register with: a desktop program cannot keep a secret, a server can.
std::string_view wanted_method(const ServerMetadata& server, const ClientDescription& client) {
  const auto& offered = server.token_endpoint_auth_methods;
  constexpr std::array<std::string_view, 3> kNative = {"none", "client_secret_basic", "client_secret_post"};
  constexpr std::array<std::string_view, 3> kWeb = {"client_secret_basic", "client_secret_post", "none"};
  const auto& order = client.is_native ? kNative : kWeb;
  if (offered.empty()) return order.front();
  const auto found = std::ranges::find_if(order, [&](std::string_view method) { return has_text(offered, method); });
  return found == order.end() ? order.front() : *found;
}

// Returns whether a client that was registered dynamically can still be used.
bool is_usable(const Client& client, const Discovered& discovered, const ClientSources& sources, Clock::Wall now) {
  if (client.issuer != discovered.issuer() || (client.expires && *client.expires <= now)) return false;
  return !sources.description || client.redirect_uri.empty() ||
         has_text(sources.description->redirect_uris, client.redirect_uri);
}

Result<std::optional<Clock::Wall>> read_secret_end(const boost::json::object& answer, Clock::Wall now) {
  constexpr std::int64_t kFarAway = 10'000'000'000;  // the year 2286
  const auto* value = answer.if_contains("client_secret_expires_at");
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_int64()) return std::unexpected(errors::protocol("client_secret_expires_at is not a time"));
  const std::int64_t seconds = std::clamp<std::int64_t>(value->get_int64(), 0, kFarAway);
  if (seconds == 0) return std::nullopt;
  const Clock::Wall end{std::chrono::seconds(seconds)};
  if (end <= now)
    return std::unexpected(errors::protocol("the server registered the client with a secret that has already expired"));
  return end;
}

}  // namespace

std::string_view to_string(ClientAuthentication method) {
  return std::ranges::find(kMethods, method, [](const auto& pair) { return pair.first; })->second;
}

std::optional<ClientAuthentication> client_authentication_of(std::string_view name) {
  const auto found = std::ranges::find(kMethods, name, [](const auto& pair) { return pair.second; });
  return found == kMethods.end() ? std::nullopt : std::optional(found->first);
}

std::string write_client_document(const ClientDescription& client, std::string_view document_url) {
  boost::json::object document = {{"client_id", document_url}};
  for (const auto& member : members_of(client))
    document[member.key()] = member.value();
  document["token_endpoint_auth_method"] = "none";
  return boost::json::serialize(document);
}

Result<std::optional<Client>> choose_client(const Discovered& discovered, const ClientSources& sources,
                                            Clock::Wall now) {
  const auto& registered = sources.registered;
  if (registered && registered->registered == Registered::beforehand) {
    const bool has_credentials = !registered->secret.empty() || registered->key;
    if (registered->issuer != discovered.issuer() && (has_credentials || !registered->issuer.empty())) {
      return std::unexpected(errors::forbidden(
          fmt::format("the client is registered with another issuer than {}, which the resource names",
                      log::printable(discovered.issuer()))));
    }
    Client client = *registered;
    client.issuer = discovered.issuer();
    return client;
  }
  if (!sources.document_url.empty() && discovered.server.takes_client_metadata_documents) {
    return Client{.issuer = discovered.issuer(), .id = sources.document_url, .registered = Registered::by_document};
  }
  if (registered && is_usable(*registered, discovered, sources, now)) return *registered;
  if (sources.description && !discovered.server.registration_endpoint.empty()) return std::nullopt;
  return std::unexpected(errors::forbidden(
      "the authorization server registers no clients by itself: register one there, and configure its client_id"));
}

Result<FetchRequest> registration_request(const Discovered& discovered, const ClientDescription& client) {
  auto url = safe_url(discovered.server.registration_endpoint, "the registration endpoint");
  if (!url) return std::unexpected(std::move(url.error()));
  boost::json::object members = members_of(client);
  members["token_endpoint_auth_method"] = wanted_method(discovered.server, client);
  FetchRequest request{.url = std::move(*url), .method = "POST"};
  request.fields.emplace_back("Content-Type", Secret("application/json"));
  request.body = Secret(boost::json::serialize(members));
  return request;
}

Result<Client> read_registration(const FetchAnswer& answer, const Discovered& discovered,
                                 const ClientDescription& client, Clock::Wall now) {
  constexpr std::size_t kMaxDepth = 32;
  if (answer.status != 200 && answer.status != 201)
    return std::unexpected(server_error(answer).within("the registration of a client"));
  const auto document = DocumentReader::parse(answer.body, FetchRequest::kMaxAnswer, "the answer to the registration");
  if (!document) return std::unexpected(document.error());
  Client made{.issuer = discovered.issuer(), .id = {}, .registered = Registered::dynamically};
  std::string secret;
  std::string method;
  for (const auto& [name, onto] : {std::pair("client_id", &made.id), std::pair("client_secret", &secret),
                                   std::pair("token_endpoint_auth_method", &method)}) {
    if (auto read = document->text(name, *onto); !read) return std::unexpected(std::move(read.error()));
  }
  if (made.id.empty()) return std::unexpected(errors::protocol("the answer to the registration has no client_id"));
  made.secret = Secret(std::move(secret));
  if (!method.empty()) {
    made.authentication = client_authentication_of(method);
    if (!made.authentication || *made.authentication == ClientAuthentication::private_key)
      return std::unexpected(errors::unsupported(
          "the server registered the client with an authentication method that the client does not have"));
  }
  const auto whole = json::parse(answer.body, kMaxDepth);
  auto end = read_secret_end(whole->get_object(), now);
  if (!end) return std::unexpected(std::move(end.error()));
  made.expires = *end;
  if (!client.redirect_uris.empty()) made.redirect_uri = client.redirect_uris.front();
  return made;
}

Result<ClientAuthentication> authentication_at(const ServerMetadata& server, const Client& client) {
  const auto& offered = server.token_endpoint_auth_methods;
  if (client.authentication) {
    const bool needs_secret = *client.authentication == ClientAuthentication::secret_basic ||
                              *client.authentication == ClientAuthentication::secret_post;
    if ((needs_secret && client.secret.empty()) ||
        (*client.authentication == ClientAuthentication::private_key && !client.key))
      return std::unexpected(errors::invalid("the client lacks the secret or key that it authenticates with"));
    return *client.authentication;
  }
  if (client.key) return ClientAuthentication::private_key;
  if (client.secret.empty()) return ClientAuthentication::none;
  // RFC 8414, section 2: the default
  if (offered.empty() || has_text(offered, "client_secret_basic")) return ClientAuthentication::secret_basic;
  if (has_text(offered, "client_secret_post")) return ClientAuthentication::secret_post;
  if (has_text(offered, "none")) return ClientAuthentication::none;
  return std::unexpected(errors::unsupported("the authorization server takes none of the client's credentials"));
}

}  // namespace proteus::auth::oauth
