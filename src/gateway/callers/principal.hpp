#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/secret.hpp"
#include "catalog/contexts/access.hpp"
#include "json/canonical.hpp"
#include "net/http_server/request.hpp"
#include "server/core/caller.hpp"

namespace proteus::gateway {

class LocalProvider;
struct PrincipalSettings;

// Someone who may ask, and what they may use. Immutable.
class Principal final : public server::Grant {
 public:
  // `own` is what it alone is offered, in front of everything else; null for nothing. The versions of its snapshots are
  // unique among all of its name.
  // `home` is the context that it finds at the plain endpoint; empty for none.
  // `key` is the name where it is empty.
  Principal(std::string name, catalog::Access access, std::vector<std::string> contexts,
            std::shared_ptr<LocalProvider> own = nullptr, std::string home = {}, std::string key = {});
  // One of the configuration, which is known by this token.
  Principal(std::string name, const json::Digest& token, catalog::Access access, std::vector<std::string> contexts);
  // What the settings say, apart from their token. `key` as above.
  Principal(const PrincipalSettings& settings, const json::Digest& token, std::string key = {});

  // For people: in logs and audits.
  const std::string& name() const { return name_; }
  // What is kept for it is kept under this: another one that has the name later does not find it.
  const std::string& key() const { return key_; }
  const catalog::Access& access() const { return access_; }
  const std::shared_ptr<LocalProvider>& own() const { return own_; }
  const std::string& home() const { return home_; }
  bool may_enter(std::string_view context) const;
  bool enters_all() const;
  // The same for principals that may enter the same contexts by the same patterns.
  const std::string& entry() const { return entry_; }
  // The hash of what it is known by, where the configuration says so.
  const json::Digest& token() const { return token_; }
  // When its token ends by itself.
  const std::optional<Clock::Wall>& expires() const { return expires_; }
  bool has_expired(Clock::Wall now) const { return expires_ && *expires_ <= now; }
  // Whether the configuration decides about it, as about anonymous callers. Others have a key of their own, or something
  // else: tool sessions, and tokens that were made at runtime.
  bool is_configured() const { return !own_ && key_ == name_; }
  // Whether both are known by the same token, and may use the same.
  bool same_as(const Principal& other) const;

 private:
  std::string name_;  // empty: anonymous
  std::string key_;
  json::Digest token_{};
  catalog::Access access_;
  std::vector<std::string> contexts_;  // patterns
  std::string entry_;
  std::shared_ptr<LocalProvider> own_;
  std::string home_;
  std::optional<Clock::Wall> expires_;
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
  std::optional<Clock::Wall> expires = {};
};

// The hash of the last token that came over a connection; most of its requests carry the same.
class TokenHash final : public net::ConnectionNote {
 public:
  const json::Digest& of(std::string_view token);
  // That of the connection which the request came over.
  static TokenHash& on_connection_of(const net::Request& request);

 private:
  Secret token_;
  json::Digest digest_{};
};

struct DigestHash {
  std::size_t operator()(const json::Digest& digest) const;
};

// Who is asking: the one place that knows. Immutable; another set of tokens is another object. Tokens are found by
// their hash, so that neither time nor a dump of the table tells one.
class Principals {
 public:
  Principals(const std::vector<PrincipalSettings>& settings, Anonymous anonymous);

  // By an Authorization header; an absent one is anonymous. Fails where the header names nobody.
  Result<std::shared_ptr<const Principal>> find(std::string_view authorization) const;
  // The same for a request, and where others know tokens, too: they are asked for those that are not known here.
  using FindMore = std::function<std::shared_ptr<const Principal>(const json::Digest& token)>;
  Result<std::shared_ptr<const Principal>> find(const net::Request& request, const FindMore& more) const;
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
  // Withdraws those of them that others, which take their place, do not keep.
  void withdraw_unless_kept_by(const Principals& others) const;

 private:
  Result<std::shared_ptr<const Principal>> find(std::string_view authorization, TokenHash& hash,
                                                const FindMore& more) const;

  std::unordered_map<json::Digest, std::shared_ptr<const Principal>, DigestHash> by_token_;
  std::vector<std::shared_ptr<const Principal>> expiring_;
  std::shared_ptr<const Principal> anonymous_;  // null where refused
  bool are_alike_ = true;
};

}  // namespace proteus::gateway
