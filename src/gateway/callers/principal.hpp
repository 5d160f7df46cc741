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

  // What an identity provider's word is worth: for how long, and for what.
  struct Voucher {
    std::uint64_t generation = 0;  // of the rules that made it
    Clock::Wall until;
    std::vector<std::string> scopes;
    unsigned requests_per_minute = 0;  // 0: no limit of its own
  };
  // One that an identity provider vouches for.
  Principal(std::string name, std::string key, catalog::Access access, std::vector<std::string> contexts,
            Voucher voucher);

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
  // Null where the configuration, or whoever registered it, vouches for it.
  const Voucher* voucher() const { return voucher_ ? &*voucher_ : nullptr; }
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
  std::optional<Voucher> voucher_;
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
};

// The hash of the last token that came over a connection; most of its requests carry the same.
class TokenHash final : public net::ConnectionNote {
 public:
  const json::Digest& of(std::string_view token);
  // Of a token that was found to be good the connection keeps more: those of identity providers are long.
  void keep(std::string_view token);
  // That of the connection which the request came over.
  static TokenHash& on_connection_of(const net::Request& request);

 private:
  Secret token_;
  json::Digest digest_{};
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
  // Whether one that was found before would be found now, and the same.
  bool keeps(const Principal& principal) const;

 private:
  Result<std::shared_ptr<const Principal>> find(std::string_view authorization, TokenHash& hash,
                                                const FindMore& more) const;

  struct DigestHash {
    std::size_t operator()(const json::Digest& digest) const;
  };

  std::unordered_map<json::Digest, std::shared_ptr<const Principal>, DigestHash> by_token_;
  std::shared_ptr<const Principal> anonymous_;  // null where refused
  bool are_alike_ = true;
};

}  // namespace proteus::gateway
