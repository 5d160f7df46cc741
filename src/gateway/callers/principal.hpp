#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/log/strikes.hpp"
#include "base/secrets/secret.hpp"
#include "catalog/contexts/scopes.hpp"
#include "gateway/callers/permissions.hpp"
#include "json/canonical.hpp"
#include "net/http_server/request.hpp"
#include "server/core/caller.hpp"

namespace proteus::gateway {

class LocalProvider;

// A caller as known by its credentials, and its rights. Immutable, but may be withdrawn.
class Principal final : public server::Grant {
 public:
  struct Parts {
    std::string name;                                           // for people; empty if anonymous
    std::shared_ptr<const Permissions> permissions;             // never null
    std::string key = {};                                       // if empty, the name
    json::Digest token = {};                                    // hash of its token; see `token`
    std::shared_ptr<const catalog::GrantedScopes> scopes = {};  // null: may use what needs scopes
    // Provider of what is offered to this principal alone, in front of everything else; null for none. No two of its
    // snapshots, among all principals of this name, have the same version.
    std::shared_ptr<LocalProvider> own = {};
    std::string home = {};                    // the context that it enters at the plain endpoint; empty for none
    std::optional<Clock::Wall> expires = {};  // when its token expires
    std::uint64_t rules = 0;                  // generation of the rules that made it; 0 if none did
  };
  // `continued` is what it is withdrawn together with, such as the principal that it replaces; null for nothing.
  explicit Principal(Parts parts, const server::Grant* continued = nullptr);

  // For people, in logs and audits.
  const std::string& name() const { return parts_.name; }
  // Identifies what the process keeps for the principal. Except for tokens of the configuration, whose key is their
  // name, no later principal of the same name has the same key.
  const std::string& key() const { return parts_.key; }
  // Identifies what the store keeps for the principal; empty for anonymous callers. For a token of the configuration it
  // is derived from the secret, because another token may have the name later.
  const std::string& lasting_key() const { return lasting_key_; }
  const Permissions& permissions() const { return *parts_.permissions; }
  const catalog::Access& access() const { return parts_.permissions->access(); }
  // Returns the scopes that its token grants. Null for a kind of token without scopes, which may use what needs scopes.
  const catalog::GrantedScopes* scopes() const { return parts_.scopes.get(); }
  const std::shared_ptr<LocalProvider>& own() const { return parts_.own; }
  const std::string& home() const { return parts_.home; }
  bool may_enter(std::string_view context) const { return permissions().may_enter(context); }
  bool enters_all() const { return permissions().enters_all(); }
  // See Permissions::entry.
  const std::string& entry() const { return permissions().entry(); }
  // Returns the hash of its token; zeros for anonymous callers, tool sessions, and callers of identity providers.
  const json::Digest& token() const { return parts_.token; }
  // Returns when its token expires; nothing if it does not.
  const std::optional<Clock::Wall>& expires() const { return parts_.expires; }
  bool has_expired(Clock::Wall now) const { return expires() && *expires() <= now; }
  // Returns the generation of the rules that made it from an identity provider's claims; 0 if it was made otherwise.
  std::uint64_t rules() const { return parts_.rules; }
  // Whether it comes from the configuration; also true for anonymous callers. Others have a key other than the name, or
  // a provider of their own: tool sessions, tokens made at runtime, and callers of identity providers.
  bool is_configured() const { return !own() && key() == name(); }
  // Whether both have the same name and token, may use the same, and are shown the same. Ignores request limits.
  bool same_as(const Principal& other) const;

 private:
  Parts parts_;
  std::string lasting_key_;
};

// Returns the principal of a caller.
inline const Principal& principal_of(const server::Caller& caller) {
  return static_cast<const Principal&>(*caller.grant);
}

enum class Anonymous : std::uint8_t { refused, served };

struct PrincipalSettings {
  std::string name;
  Secret token;
  std::vector<std::string> contexts = {"*"};
  std::vector<std::string> upstreams = {"*"};
  catalog::EntryRules entries = {};
  unsigned requests_per_minute = 0;  // 0: only the limit for everybody
  std::optional<Clock::Wall> expires = {};
  catalog::Disclosure disclosure = catalog::Disclosure::all;
};

Permissions permissions_of(const PrincipalSettings& settings);

// Caches the hash of the last token that came over a connection, because most requests of a connection carry the same.
class TokenHash final : public net::ConnectionNote {
 public:
  // Returns the hash of a token. `number` is the request's net::Request::authorization_number.
  const json::Digest& of(std::string_view token, std::uint64_t number);
  // Keeps the last token, which is good, however long it is: tokens of identity providers are long.
  void keep(std::string_view token);
  // Counts the tokens of this connection that were introspected and rejected.
  Strikes& strikes() { return strikes_; }
  // Returns the TokenHash of the connection that a request came over.
  static TokenHash& on_connection_of(const net::Request& request);

 private:
  static constexpr unsigned kRefusedPerMinute = 30;

  Secret token_;
  json::Digest digest_{};
  std::uint64_t number_ = 0;  // of the Authorization field with the hashed token
  Strikes strikes_{kRefusedPerMinute};
};

struct DigestHash {
  std::size_t operator()(const json::Digest& digest) const;
};

// The principals of the configuration. Immutable: a change makes a new object. Finds tokens by their hash, so that
// neither timing nor a dump of the table reveals a token.
class Principals {
 public:
  // Principals that may use the same share their permissions, also with those of `previous` (may be null), and with
  // them everything that is cached for these permissions. A principal that is the same as before continues the former
  // one, on which requests that were admitted before depend.
  Principals(const std::vector<PrincipalSettings>& settings, Anonymous anonymous, const Principals* previous = nullptr);

  // Returns the principal of a token, by the token's hash; null for none.
  std::shared_ptr<const Principal> find(const json::Digest& token) const;
  // Returns the principal of callers without a token; null if they are rejected.
  const std::shared_ptr<const Principal>& anonymous() const { return anonymous_; }
  // Whether all of them are shown everything.
  bool are_alike() const { return are_alike_; }
  bool knows(const json::Digest& token) const { return by_token_.contains(token); }
  // Returns all principals except the anonymous one, sorted by name.
  std::vector<std::shared_ptr<const Principal>> all() const;
  // Returns null if no principal has this name.
  std::shared_ptr<const Principal> find_name(std::string_view name) const;
  // Returns the principals whose tokens expire.
  const std::vector<std::shared_ptr<const Principal>>& expiring() const { return expiring_; }
  // Whether a principal that was found before would still be found now, with the same rights.
  bool keeps(const Principal& principal) const;
  // Derives in advance what earlier callers will request of a snapshot, so that requests find it cached.
  void look_at(const catalog::SnapshotPointer& snapshot) const;
  // Withdraws the principals that `others`, which replaces this, does not keep. Returns their keys.
  std::unordered_set<std::string> withdraw_unless_kept_by(const Principals& others) const;

 private:
  std::unordered_map<json::Digest, std::shared_ptr<const Principal>, DigestHash> by_token_;
  PermissionsTable permissions_;
  std::vector<std::shared_ptr<const Principal>> expiring_;
  std::shared_ptr<const Principal> anonymous_;  // null if rejected
  bool are_alike_ = true;
};

}  // namespace proteus::gateway
