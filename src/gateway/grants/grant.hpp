#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "auth/oauth/client.hpp"
#include "auth/oauth/token_request.hpp"
#include "auth/tokens/metadata.hpp"
#include "auth/tokens/private_key.hpp"
#include "base/clock.hpp"
#include "base/secrets/secret.hpp"
#include "base/strong.hpp"
#include "client/message/ready_headers.hpp"
#include "gateway/callers/principal.hpp"
#include "json/canonical.hpp"
#include "providers/upstream_settings.hpp"

namespace proteus::gateway {

class Proofs;

// The owner of a grant: issuer and subject of a user, the id of a token that was made at runtime, or a value derived
// from the secret of a token of the configuration. A later owner of the same name does not find the grant.
using GrantOwner = Strong<std::string, struct GrantOwnerTag>;

// Returns nothing for anonymous callers, who have no grants.
std::optional<GrantOwner> owner_of(const Principal& principal);
// Returns the gateway itself as an owner.
const GrantOwner& gateway_owner();

// What a grant is for: the upstream's URL, the kind of OAuth grant, and the issuer and client of the settings. Another
// upstream that takes over the name does not find the grant; an upstream that only changes its name keeps it.
using GrantTarget = Strong<std::string, struct GrantTargetTag>;
GrantTarget target_of(const providers::UpstreamSettings& settings);
// Returns the upstream's URL.
std::string_view url_of(const GrantTarget& target);
// Returns the target of a user's sign-in at an identity provider. The identity assertion chain needs the ID token of
// that sign-in.
GrantTarget identity_target(std::string_view issuer);
// Returns what a user of this issuer has to connect to use an upstream.
GrantTarget wanted_target(const providers::UpstreamSettings& settings, std::string_view issuer);
bool is_identity(const GrantTarget& target);

// The key of a grant. Made once and cached, because each call looks for a grant and the texts are long. A grant that
// was obtained by exchanging a caller's token is for that token alone: another token of the same user may allow less.
class GrantKey {
 public:
  GrantKey(GrantOwner owner, GrantTarget target, const Secret& caller_token = {});

  const GrantOwner& owner() const { return owner_; }
  const GrantTarget& target() const { return target_; }
  std::size_t hash() const { return hash_; }

  friend bool operator==(const GrantKey& a, const GrantKey& b) {
    return a.hash_ == b.hash_ && a.owner_ == b.owner_ && a.target_ == b.target_ && a.token_ == b.token_;
  }

 private:
  GrantOwner owner_;
  GrantTarget target_;
  json::Digest token_{};  // hash of the caller's token; zeros for none
  std::size_t hash_;
};
struct GrantKeyHash {
  std::size_t operator()(const GrantKey& key) const { return key.hash(); }
};

enum class GrantState : std::uint8_t {
  none,           // never connected, or disconnected
  connected,      // its tokens are used, and refreshed before they expire
  needs_sign_in,  // unusable; `trouble` says why
};
std::string_view to_string(GrantState state);

// An owner's connection with an upstream. Immutable: a refresh makes another object with the same id.
struct Grant {
  std::string id = {};  // random; for lists and for disconnecting
  GrantOwner owner;
  std::string owner_name = {};  // for people
  GrantTarget target;
  std::string upstream = {};         // name when it was connected, for people
  std::string resource = {};         // resource that the tokens are for (RFC 8707)
  auth::ServerMetadata server = {};  // issued the tokens; no other server gets the refresh token
  auth::oauth::Client client = {};   // client of the tokens; without the secrets that the settings have
  auth::oauth::TokenAnswer tokens = {};
  auth::oauth::Scopes asked = {};                  // scopes that the sign-in asked for
  std::optional<auth::PrivateKey> proof_key = {};  // for DPoP
  Clock::Wall connected_at = {};
  Clock::Wall refreshed_at = {};  // the same as `connected_at` before the first refresh
  GrantState state = GrantState::connected;
  std::string trouble = {};  // why it needs a sign-in, for people
  // Whether the server rotates refresh tokens: whether it issues another one with each refresh. Unset before the first
  // refresh.
  std::optional<bool> rotates = {};
  std::uint64_t stored = 0;  // version of its record in the store
  // Whether, by the record, a refresh was begun whose outcome is not written yet.
  bool rotation_begun = false;
  // Obtained without a person's help, and not stored.
  bool is_transient = false;
  std::uint64_t version = 0;            // differs after each change, within the process
  std::shared_ptr<Proofs> proofs = {};  // set if the token is bound to `proof_key`
  // When to refresh its access token, and when to stop using it; both before the token expires.
  Clock::Wall refresh_at = Clock::Wall::max();
  Clock::Wall unusable_at = Clock::Wall::max();
  Clock::Monotonic obtained_at = {};  // when the access token was obtained
  bool after_refusal = false;         // obtained because an upstream had refused the previous token
  std::shared_ptr<std::atomic<Clock::Wall>> refresh_again = {};  // when to start the next refresh ahead of expiry
  // The headers of requests, except for a proof. Never null in the vault.
  client::ReadyHeaders::Pointer headers = {};

  const std::string& issuer() const { return server.issuer; }
  bool can_refresh() const { return is_transient || !tokens.refresh_token.empty(); }
  // Returns the value of the Authorization header.
  const std::string& authorization() const { return headers->headers().front().second; }
};
using GrantPointer = std::shared_ptr<const Grant>;

}  // namespace proteus::gateway
