#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/secret.hpp"
#include "base/strikes.hpp"
#include "catalog/contexts/scopes.hpp"
#include "gateway/callers/permissions.hpp"
#include "json/canonical.hpp"
#include "net/http_server/request.hpp"
#include "server/core/caller.hpp"

namespace proteus::gateway {

class LocalProvider;

// Someone who may ask, and what they may use. Immutable.
class Principal final : public server::Grant {
 public:
  struct Parts {
    std::string name;                                // for people; empty: anonymous
    std::shared_ptr<const Permissions> permissions;  // never null
    std::string key = {};                            // the name where it is empty
    json::Digest token = {};                         // the hash of what it is known by, where that is a token
    std::shared_ptr<const catalog::GrantedScopes> scopes = {};  // null: no scope is asked of it
    // What it alone is offered, in front of everything else; null for nothing. The versions of its snapshots are unique
    // among all of its name.
    std::shared_ptr<LocalProvider> own = {};
    std::string home = {};                    // the context that it finds at the plain endpoint; empty for none
    std::optional<Clock::Wall> expires = {};  // when its token ends by itself
    std::uint64_t rules = 0;  // where an identity provider vouches for it: the generation of the rules that made it
  };
  explicit Principal(Parts parts);

  // For people: in logs and audits.
  const std::string& name() const { return parts_.name; }
  // What is kept for it is kept under this: another one that has the name later does not find it.
  const std::string& key() const { return parts_.key; }
  // The same for what outlives the process; empty for anonymous callers. A token of the configuration has one that
  // follows from its secret, because its name may be another's tomorrow.
  const std::string& lasting_key() const { return lasting_key_; }
  const Permissions& permissions() const { return *parts_.permissions; }
  const catalog::Access& access() const { return parts_.permissions->access(); }
  // What its token grants; null where it has none that does, and may use what needs scopes.
  const catalog::GrantedScopes* scopes() const { return parts_.scopes.get(); }
  const std::shared_ptr<LocalProvider>& own() const { return parts_.own; }
  const std::string& home() const { return parts_.home; }
  bool may_enter(std::string_view context) const { return permissions().may_enter(context); }
  bool enters_all() const { return permissions().enters_all(); }
  // The same for principals that may enter the same contexts by the same patterns.
  const std::string& entry() const { return permissions().entry(); }
  // The hash of what it is known by, where the configuration says so.
  const json::Digest& token() const { return parts_.token; }
  // When its token ends by itself.
  const std::optional<Clock::Wall>& expires() const { return parts_.expires; }
  bool has_expired(Clock::Wall now) const { return expires() && *expires() <= now; }
  // The generation of the rules that made it of an identity provider's word; 0 where others made it.
  std::uint64_t rules() const { return parts_.rules; }
  // Whether the configuration decides about it, as about anonymous callers. Others have a key of their own, or
  // something else: tool sessions, tokens that were made at runtime, and those of identity providers.
  bool is_configured() const { return !own() && key() == name(); }
  // Whether both are known by the same token, and may use the same.
  bool same_as(const Principal& other) const;

 private:
  Parts parts_;
  std::string lasting_key_;
};

// The principal a caller was found to be.
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
  unsigned requests_per_minute = 0;  // 0: no limit besides that of everybody
  std::optional<Clock::Wall> expires = {};
  catalog::Disclosure disclosure = catalog::Disclosure::all;
};

Permissions permissions_of(const PrincipalSettings& settings);

// The hash of the last token that came over a connection; most of its requests carry the same.
class TokenHash final : public net::ConnectionNote {
 public:
  // `number` is that of the request's Authorization: see net::Request.
  const json::Digest& of(std::string_view token, std::uint64_t number);
  // Of the token that was asked for last, and is good, the connection keeps more: those of identity providers are long.
  void keep(std::string_view token);
  // Tokens that came over the connection, had to be asked about, and were refused.
  Strikes& strikes() { return strikes_; }
  // That of the connection which the request came over.
  static TokenHash& on_connection_of(const net::Request& request);

 private:
  static constexpr unsigned kRefusedPerMinute = 30;

  Secret token_;
  json::Digest digest_{};
  std::uint64_t number_ = 0;  // of the Authorization that the hash was made of
  Strikes strikes_{kRefusedPerMinute};
};

struct DigestHash {
  std::size_t operator()(const json::Digest& digest) const;
};

// Who is asking: the one place that knows. Immutable; another set of tokens is another object. Tokens are found by
// their hash, so that neither time nor a dump of the table tells one.
class Principals {
 public:
  // Those who may use the same share their permissions, also with those of `previous` (may be null), and so what was
  // worked out for them.
  Principals(const std::vector<PrincipalSettings>& settings, Anonymous anonymous, const Principals* previous = nullptr);

  // Who has a token, by its hash; null for nobody.
  std::shared_ptr<const Principal> find(const json::Digest& token) const;
  // Who brings none; null where they are refused.
  const std::shared_ptr<const Principal>& anonymous() const { return anonymous_; }
  // Whether all of them may use the same.
  bool are_alike() const { return are_alike_; }
  bool knows(const json::Digest& token) const { return by_token_.contains(token); }
  // By name; anonymous callers are not among them.
  std::vector<std::shared_ptr<const Principal>> all() const;
  // Null where none of them has this name.
  std::shared_ptr<const Principal> find_name(std::string_view name) const;
  // Those whose tokens end by themselves.
  const std::vector<std::shared_ptr<const Principal>>& expiring() const { return expiring_; }
  // Whether one that was found before would be found now, and the same.
  bool keeps(const Principal& principal) const;
  // Works out what those who have looked before may see of a snapshot, so that no request has to.
  void look_at(const catalog::SnapshotPointer& snapshot) const;
  // Withdraws those of them that others, which take their place, do not keep.
  void withdraw_unless_kept_by(const Principals& others) const;

 private:
  std::unordered_map<json::Digest, std::shared_ptr<const Principal>, DigestHash> by_token_;
  PermissionsTable permissions_;
  std::vector<std::shared_ptr<const Principal>> expiring_;
  std::shared_ptr<const Principal> anonymous_;  // null where refused
  bool are_alike_ = true;
};

}  // namespace proteus::gateway
