#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "auth/fetch/fetch.hpp"
#include "auth/oauth/discovery.hpp"
#include "auth/tokens/private_key.hpp"
#include "base/clock.hpp"
#include "base/secrets/secret.hpp"

// How a client is known to an authorization server.
namespace proteus::auth::oauth {

enum class ClientAuthentication : std::uint8_t { none, secret_basic, secret_post, private_key };
std::string_view to_string(ClientAuthentication method);  // as in metadata: "client_secret_basic"
std::optional<ClientAuthentication> client_authentication_of(std::string_view name);

enum class Registered : std::uint8_t { beforehand, by_document, dynamically };

// A client at one issuer. Credentials belong to the issuer that they were registered with, and are used with no other
// (UPC-02).
struct Client {
  std::string issuer;
  std::string id;
  Registered registered = Registered::beforehand;
  // How the client authenticates; if absent, as its credentials and the server allow.
  std::optional<ClientAuthentication> authentication = std::nullopt;
  Secret secret = {};
  std::optional<PrivateKey> key = std::nullopt;
  std::string key_id = {};                            // `kid` of assertions; may be empty
  std::optional<Clock::Wall> expires = std::nullopt;  // of the secret
  std::string redirect_uri = {};                      // given at the dynamic registration
};

// What a client states about itself, in its own metadata document or in a registration.
struct ClientDescription {
  std::string name;
  std::vector<std::string> redirect_uris;
  bool is_native = false;  // its redirects lead to the user's own machine
  Scopes scopes = {};
  std::string uri = {};
};
// Returns the client metadata document to publish at `document_url`, which is the client id.
std::string write_client_document(const ClientDescription& client, std::string_view document_url);

// The clients that `choose_client` can choose from.
struct ClientSources {
  std::optional<Client> registered = std::nullopt;              // beforehand, or dynamically in the past
  std::string document_url = {};                                // of a client metadata document; https
  std::optional<ClientDescription> description = std::nullopt;  // for a dynamic registration
};

// Returns the client to use with this server, in the order of the specification: registered beforehand, document,
// dynamic. Returns nothing if the client must be registered first. Ignores a dynamically registered client that belongs
// to another issuer, has expired, or has another redirect URI. Fails if a client that was registered beforehand belongs
// to another issuer, or if there is no way to get a client.
Result<std::optional<Client>> choose_client(const Discovered& discovered, const ClientSources& sources,
                                            Clock::Wall now);

// Dynamic registration (RFC 7591).
Result<FetchRequest> registration_request(const Discovered& discovered, const ClientDescription& client);
Result<Client> read_registration(const FetchAnswer& answer, const Discovered& discovered,
                                 const ClientDescription& client, Clock::Wall now);

// Returns how the client authenticates at this server. Fails if it cannot.
Result<ClientAuthentication> authentication_at(const ServerMetadata& server, const Client& client);

}  // namespace proteus::auth::oauth
