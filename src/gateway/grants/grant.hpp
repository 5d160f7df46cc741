#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/secret.hpp"
#include "base/strong.hpp"
#include "gateway/callers/principal.hpp"
#include "providers/upstream_settings.hpp"

namespace proteus::gateway {

// Whose a grant is: issuer and subject of a user, the id of a token that was made at runtime, or what follows from the
// secret of one in the configuration. A name that is used again later finds nothing.
using GrantOwner = Strong<std::string, struct GrantOwnerTag>;

// Nothing for anonymous callers, who have no grants.
std::optional<GrantOwner> owner_of(const Principal& principal);
// The gateway itself.
const GrantOwner& gateway_owner();

// What a grant is for: the upstream's URL, and as which client of which issuer it was obtained, as far as the settings
// say. Another upstream that takes its name finds nothing; one that only changes its name keeps its grants.
using GrantTarget = Strong<std::string, struct GrantTargetTag>;
GrantTarget target_of(const providers::UpstreamSettings& settings);

enum class GrantState : std::uint8_t {
  none,           // never connected, or disconnected
  connected,      // its tokens are used, and refreshed where they expire
  needs_sign_in,  // there was one: its refresh was refused, or a crash left open whether the server has rotated it
};
std::string_view to_string(GrantState state);

// What an authorization server gave.
struct GrantTokens {
  Secret access = {};
  Secret refresh = {};                            // empty for none
  Secret identity = {};                           // the ID token, where the identity assertion chain needs it
  bool dpop = false;                              // the access token is bound to `Grant::proof_key`
  std::optional<Clock::Wall> expires = {};        // of the access token
  std::vector<std::string> scopes = {};           // granted
};

// The client that an authorization server knows us as.
struct GrantClient {
  std::string id = {};
  Secret secret = {};          // empty for a public client, and for one that the settings describe
  std::string method = "none"; // token_endpoint_auth_method
};

// A connection of somebody with an upstream. Immutable: a refresh makes another one with the same id.
struct Grant {
  std::string id;            // random; for lists, and to disconnect by
  GrantOwner owner;
  std::string owner_name;    // for people
  GrantTarget target;
  std::string upstream;      // its name when it was connected, for people
  std::string resource;      // that the tokens are for (RFC 8707)
  std::string issuer;        // who gave them; they are sent to nobody else
  GrantClient client;        // that they were given to
  std::string token_endpoint;
  std::string revocation_endpoint = {};  // empty where the server offers none
  GrantTokens tokens;
  Secret proof_key = {};     // for DPoP: the private key, as PEM; empty for none
  Clock::Wall connected_at{};
  Clock::Wall refreshed_at{};
  GrantState state = GrantState::connected;
  std::string trouble = {};  // why it needs a sign-in, for people
  std::uint64_t version = 0; // grows with each change, within the process
};
using GrantPointer = std::shared_ptr<const Grant>;

// A client that was registered dynamically. Issuer and redirect URI identify it; each issuer has its own.
struct ClientRegistration {
  std::string issuer;
  std::string redirect_uri;
  GrantClient client;
  std::optional<Clock::Wall> secret_expires = {};
};

}  // namespace proteus::gateway
