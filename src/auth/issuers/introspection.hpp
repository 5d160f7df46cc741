#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include <proteus/error.hpp>

#include "auth/issuers/issuer_documents.hpp"
#include "auth/issuers/issuer_home.hpp"
#include "auth/issuers/kept_by_token.hpp"
#include "auth/tokens/claims.hpp"
#include "base/log/strikes.hpp"
#include "base/secrets/secret.hpp"

namespace proteus::auth {

// The answer of an issuer about an opaque token (RFC 7662).
struct Introspected {
  std::shared_ptr<const Claims> claims;  // null: the token is not active
  Clock::Wall until;                     // when to ask again
};

// Introspects opaque tokens at an issuer, with at most one request under way for each token, and caches the answers.
// Shared; thread-safe.
class Introspection : public std::enable_shared_from_this<Introspection> {
 public:
  static constexpr std::chrono::seconds kActive{60};
  static constexpr std::chrono::seconds kInactive{5};
  static constexpr std::size_t kMaxKept = 10'000;  // of each kind, so that bad tokens do not displace good ones
  static constexpr std::size_t kMaxAsked = 64;     // at the same time
  // Beyond this many tokens that turn out not to be active, no further token is introspected for a moment.
  static constexpr unsigned kInactivePerMinute = 600;

  Introspection(std::shared_ptr<IssuerHome> home, std::shared_ptr<IssuerDocuments> documents, std::string issuer);

  // Fails if the issuer cannot answer, and with `exhausted` if too many tokens are being introspected or were inactive
  // lately.
  static Task<Result<Introspected>> ask(std::shared_ptr<Introspection> introspection, Secret token);

  // Removes expired answers. Thread-safe; to be called now and then.
  void sweep();

 private:
  using Outcome = Result<Introspected>;

  void join(const std::shared_ptr<Delivery<Outcome>>& waiter, Secret token);
  static Task<> run(std::shared_ptr<Introspection> introspection, Secret token, json::Digest digest);
  Outcome read(const std::string& answer) const;
  void finish(const json::Digest& digest, const Outcome& outcome);

  const std::shared_ptr<IssuerHome> home_;
  const std::shared_ptr<IssuerDocuments> documents_;
  const std::string issuer_;

  // Belong to the home's thread.
  KeptByToken<Introspected> active_{kMaxKept};
  KeptByToken<Introspected> inactive_{kMaxKept};
  std::map<json::Digest, Waiters<Outcome>> asked_;
  Strikes strikes_{kInactivePerMinute};
};

}  // namespace proteus::auth
