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
#include "base/secret.hpp"
#include "base/strikes.hpp"

namespace proteus::auth {

// What an issuer said about an opaque token (RFC 7662).
struct Introspected {
  std::shared_ptr<const Claims> claims;  // null: it is not active
  Clock::Wall until;                     // when to ask again
};

// Asks an issuer about opaque tokens, each once at a time, and remembers the answers for a while. Shared; any thread.
class Introspection : public std::enable_shared_from_this<Introspection> {
 public:
  static constexpr std::chrono::seconds kActive{60};
  static constexpr std::chrono::seconds kInactive{5};
  static constexpr std::size_t kMaxKept = 10'000;  // of either kind, so that bad tokens do not displace good ones
  static constexpr std::size_t kMaxAsked = 64;     // at the same time
  static constexpr std::size_t kMaxAnswer = std::size_t{256} * 1024;
  // Of tokens that turn out not to be active; then none is asked about for a moment.
  static constexpr unsigned kInactivePerMinute = 600;

  Introspection(std::shared_ptr<IssuerHome> home, std::shared_ptr<IssuerDocuments> documents, std::string issuer);

  // Fails where the issuer cannot say, or not now; with `exhausted` where too many are asked about.
  static Task<Result<Introspected>> ask(std::shared_ptr<Introspection> introspection, Secret token);

  // Forgets what was said, so that the issuer is asked again. Any thread.
  void forget_all();
  // Gives back what has ended. Any thread, now and then.
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

  // Of the home's thread.
  KeptByToken<Introspected> active_{kMaxKept};
  KeptByToken<Introspected> inactive_{kMaxKept};
  std::map<json::Digest, Waiters<Outcome>> asked_;
  Strikes strikes_{kInactivePerMinute};
};

}  // namespace proteus::auth
