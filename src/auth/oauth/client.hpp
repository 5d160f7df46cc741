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
#include "base/secret.hpp"

// What a client is known by at an authorization server.
namespace proteus::auth::oauth {

enum class ClientAuthentication : std::uint8_t { none, secret_basic, secret_post, private_key };
std::string_view to_string(ClientAuthentication method);  // as metadata have it: "client_secret_basic"
std::optional<ClientAuthentication> client_authentication_of(std::string_view name);

enum class Registered : std::uint8_t { beforehand, by_document, dynamically };

// Credentials belong to the issuer that they were registered with, and are used with no other (UPC-02).
struct Client {
  std::string issuer;
  std::string id;
  Registered registered = Registered::beforehand;
  // How it authenticates; nothing: as its credentials and the server allow.
  std::optional<ClientAuthentication> authentication = std::nullopt;
  Secret secret = {};
  std::optional<PrivateKey> key = std::nullopt;
  std::string key_id = {};                            // `kid` of assertions; may be empty
  std::optional<Clock::Wall> expires = std::nullopt;  // of the secret
  std::string redirect_uri = {};                      // that it was registered with, dynamically
};

// What a client says about itself, in a document of its own or in a registration.
struct ClientDescription {
  std::string name;
  std::vector<std::string> redirect_uris;
  bool is_native = false;  // its redirects lead to the user's own machine
  Scopes scopes = {};
  std::string uri = {};
};
// The document that a client id which is a URL leads to.
std::string write_client_document(const ClientDescription& client, std::string_view document_url);

// What a client has to choose from.
struct ClientSources {
  std::optional<Client> registered = std::nullopt;              // beforehand, or dynamically before
  std::string document_url = {};                                // of a client metadata document; https
  std::optional<ClientDescription> description = std::nullopt;  // for a dynamic registration
};

// The client to use with this server, in the order of the specification: registered, document, dynamic. Nothing: it has
// to be registered first. Fails where a client that was registered beforehand belongs to another issuer, and where
// there is no way. One that was registered dynamically and belongs to another issuer, or is expired, or has another
// redirect URI, is not used.
Result<std::optional<Client>> choose_client(const Discovered& discovered, const ClientSources& sources,
                                            Clock::Wall now);

// Dynamic registration (RFC 7591).
Result<FetchRequest> registration_request(const Discovered& discovered, const ClientDescription& client);
Result<Client> read_registration(const FetchAnswer& answer, const Discovered& discovered,
                                 const ClientDescription& client, Clock::Wall now);

// How a client authenticates at this server. Fails where it cannot.
Result<ClientAuthentication> authentication_at(const ServerMetadata& server, const Client& client);

}  // namespace proteus::auth::oauth
