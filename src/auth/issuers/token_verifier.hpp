#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/issuers/identity.hpp"
#include "auth/issuers/introspection.hpp"
#include "auth/issuers/issuer_home.hpp"
#include "auth/issuers/issuer_keys.hpp"
#include "auth/issuers/proof_memory.hpp"
#include "auth/issuers/refusal.hpp"
#include "auth/issuers/settings.hpp"
#include "base/clock.hpp"
#include "base/published.hpp"
#include "base/secret.hpp"
#include "base/task.hpp"

namespace proteus::auth {

enum class Scheme : std::uint8_t { bearer, dpop };

// How a token is used: what the proof is about, and what the token must be for.
struct TokenUse {
  Scheme scheme = Scheme::bearer;
  std::string_view token = {};
  std::string_view proof = {};  // the DPoP field; empty where there is not exactly one
  std::string_view method = {};
  std::string_view url = {};                    // as clients know it
  std::span<const std::string> audiences = {};  // of the resource
};

// Verifies the tokens of all issuers. Shared by all threads: what needs an issuer to be asked goes to the home's
// thread, and everything else is done on the thread that asks.
//
// A request costs a look-up: it finds its identity in its worker's own VerifiedTokens, calls `check_use`, which does
// not wait, and only at first sight of a token calls `verify`.
class TokenVerifier {
 public:
  // `http` and `clock` outlive it; `http` belongs to the home's thread, and refuses what egress rules refuse.
  TokenVerifier(const Executor& home, net::HttpClient& http, const Clock& clock, std::vector<IssuerSettings> issuers);
  ~TokenVerifier();
  TokenVerifier(const TokenVerifier&) = delete;
  TokenVerifier& operator=(const TokenVerifier&) = delete;

  // Replaces the issuers; those whose settings did not change keep their keys. Identities from before are to be
  // forgotten by whoever keeps them. One thread at a time.
  void set_issuers(std::vector<IssuerSettings> issuers);
  bool has_issuers() const;
  // Fetches all keys, so that the first callers do not wait for them. An issuer that cannot be reached is no failure.
  void fetch_ahead();
  // Gives back what has ended. Any thread, now and then.
  void sweep();
  // On the home's thread: ends what is under way. Before the destructor.
  Task<> close();

  using Verdict = std::expected<IdentityPointer, Refusal>;

  // Whose token it is: everything about a token that does not depend on the request.
  Task<Verdict> verify(Secret token);
  // Whether an identity may be used for a request: the token is for the resource, its end has not come, and it comes
  // with a sound and new proof where it is bound to a key. Does not wait; at most one signature.
  std::expected<void, Refusal> check_use(const Identity& identity, const TokenUse& use);

  // Whether a token says that it comes from one of the issuers; it need not be true. Such a token is a caller's and
  // must not be sent elsewhere.
  bool names_issuer(std::string_view token) const;

  struct Status {
    std::string issuer;
    IssuerKeys::Status keys;
  };
  std::vector<Status> status() const;

 private:
  struct Issuer;
  using IssuerPointer = std::shared_ptr<const Issuer>;
  using Issuers = std::vector<IssuerPointer>;

  IssuerPointer make(IssuerSettings settings) const;
  IssuerPointer issuer_of(std::string_view name) const;
  Task<Verdict> verify_jwt(Secret token);
  Task<Verdict> verify_opaque(Secret token);
  static Verdict identify(const Issuer& issuer, Claims claims, Clock::Wall usable_until);

  const std::shared_ptr<IssuerHome> home_;
  Published<Issuers> issuers_;
  ProofMemory proofs_;
};

}  // namespace proteus::auth
