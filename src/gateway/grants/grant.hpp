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
#include "base/secret.hpp"
#include "base/strong.hpp"
#include "client/message/ready_headers.hpp"
#include "gateway/callers/principal.hpp"
#include "json/canonical.hpp"
#include "providers/upstream_settings.hpp"

namespace proteus::gateway {

class Proofs;

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
// The upstream's.
std::string_view url_of(const GrantTarget& target);
// What the sign-in of a user at an identity provider is kept under, whose ID token the identity assertion chain needs.
GrantTarget identity_target(std::string_view issuer);
bool is_identity(const GrantTarget& target);

// What a grant is found by. It is made once and kept: each call looks for one, and the texts are long. A grant that is
// obtained by exchanging a caller's token is for that token alone: another one of the same user may allow less.
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
  json::Digest token_{};  // of the caller's token; zeros for none
  std::size_t hash_;
};
struct GrantKeyHash {
  std::size_t operator()(const GrantKey& key) const { return key.hash(); }
};

enum class GrantState : std::uint8_t {
  none,           // never connected, or disconnected
  connected,      // its tokens are used, and refreshed where they expire
  needs_sign_in,  // there was one: its refresh was refused, or a crash left open whether the server has rotated it
};
std::string_view to_string(GrantState state);

// A connection of somebody with an upstream. Immutable: a refresh makes another one with the same id.
struct Grant {
  std::string id = {};  // random; for lists, and to disconnect by
  GrantOwner owner;
  std::string owner_name = {};  // for people
  GrantTarget target;
  std::string upstream = {};         // its name when it was connected, for people
  std::string resource = {};         // that the tokens are for (RFC 8707)
  auth::ServerMetadata server = {};  // who gave them; they are sent to nobody else
  auth::oauth::Client client = {};   // that they were given to; without the secrets that the settings describe
  auth::oauth::TokenAnswer tokens = {};
  std::optional<auth::PrivateKey> proof_key = {};  // for DPoP
  Clock::Wall connected_at = {};
  Clock::Wall refreshed_at = {};  // as `connected_at` where it never was
  GrantState state = GrantState::connected;
  std::string trouble = {};  // why it needs a sign-in, for people
  // Whether the server gives another refresh token with each refresh. Nothing before the first one.
  std::optional<bool> rotates = {};
  std::uint64_t stored = 0;  // the version of its record in the store
  // As the record has it: whether somebody began to refresh it, and how that ended is not written yet.
  bool rotation_begun = false;
  // It is obtained without anybody's help, and not kept.
  bool is_transient = false;
  std::uint64_t version = 0;            // another one for each change, within the process
  std::shared_ptr<Proofs> proofs = {};  // where the token is bound to `proof_key`
  // When its access token is to be refreshed, and when it is not to be used any more; before it expires.
  Clock::Wall refresh_at = Clock::Wall::max();
  Clock::Wall unusable_at = Clock::Wall::max();
  Clock::Monotonic obtained_at = {};                   // the access token
  bool after_refusal = false;                          // it was obtained because an upstream had refused the one before
  std::shared_ptr<std::atomic<bool>> refreshing = {};  // soon, before its token ends
  // What requests carry, but for a proof. Never null in the vault.
  client::ReadyHeaders::Pointer headers = {};

  const std::string& issuer() const { return server.issuer; }
  bool can_refresh() const { return is_transient || !tokens.refresh_token.empty(); }
  // The value of that header.
  const std::string& authorization() const { return headers->headers().front().second; }
};
using GrantPointer = std::shared_ptr<const Grant>;

}  // namespace proteus::gateway
