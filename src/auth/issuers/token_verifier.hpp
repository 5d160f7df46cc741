#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
#include "base/secrets/secret.hpp"
#include "base/tasks/task.hpp"

namespace proteus::auth {

enum class Scheme : std::uint8_t { bearer, dpop };

// How a token is used: what the proof must match, and what the token must be for.
struct TokenUse {
  Scheme scheme = Scheme::bearer;
  std::string_view token = {};
  std::string_view proof = {};  // the DPoP field; empty unless there is exactly one
  std::string_view method = {};
  std::string_view url = {};                    // as clients know it
  std::span<const std::string> audiences = {};  // of the resource
};

// Verifies the tokens of all issuers. Thread-safe: requests to issuers run on the home's thread, everything else on the
// calling thread.
//
// A request costs a look-up: it finds its identity in the KeptByToken of its worker and calls `check_use`, which does
// not wait. Only at first sight of a token does it call `verify`.
class TokenVerifier {
 public:
  // `http` and `clock` must outlive the verifier. `http` belongs to the home's thread, and must refuse what egress
  // rules refuse.
  TokenVerifier(const Executor& home, net::HttpClient& http, const Clock& clock, std::vector<IssuerSettings> issuers);
  ~TokenVerifier();
  TokenVerifier(const TokenVerifier&) = delete;
  TokenVerifier& operator=(const TokenVerifier&) = delete;

  // All issuers at one moment. Immutable.
  struct Issuer;
  using Issuers = std::shared_ptr<const std::vector<std::shared_ptr<const Issuer>>>;

  // Replaces the issuers; those whose settings did not change keep their keys. Callers must forget the identities that
  // they cached before. To be called by one thread at a time.
  void set_issuers(std::vector<IssuerSettings> issuers);
  Issuers issuers() const { return issuers_.get(); }
  bool has_issuers() const;
  // Fetches all keys in the background, so that the first callers do not wait for them. An issuer that cannot be
  // reached is not an error.
  void fetch_ahead();
  // Removes expired introspections. Thread-safe; to be called now and then.
  void sweep();
  // Cancels what is under way. To be called on the home's thread, before the destructor.
  Task<> close();

  using Verdict = std::expected<IdentityPointer, Refusal>;

  // Returns whose token it is, if it is of one of these issuers. Checks everything about the token that does not depend
  // on the request.
  Task<Verdict> verify(Issuers issuers, Secret token);
  Task<Verdict> verify(Secret token) { return verify(issuers(), std::move(token)); }
  // Checks whether an identity may be used for a request: the token is for the resource, has not expired and, if it is
  // bound to a key, comes with a valid and unused proof. Does not wait; verifies at most one signature.
  std::expected<void, Refusal> check_use(const Identity& identity, const TokenUse& use);

  // Returns whether a token claims to come from one of the issuers, which need not be true. Such a token belongs to a
  // caller and must not be sent elsewhere.
  bool names_issuer(std::string_view token) const;

  struct Status {
    std::string issuer;
    IssuerKeys::Status keys;
  };
  std::vector<Status> status() const;

 private:
  using IssuerPointer = std::shared_ptr<const Issuer>;

  IssuerPointer make(IssuerSettings settings) const;
  static IssuerPointer issuer_of(const Issuers& issuers, std::string_view name);
  Task<Verdict> verify_jwt(Issuers issuers, Secret token);
  Task<Verdict> verify_opaque(Issuers issuers, Secret token);
  static Verdict identify(const Issuer& issuer, Claims claims, Clock::Wall usable_until);

  const std::shared_ptr<IssuerHome> home_;
  Published<std::vector<IssuerPointer>> issuers_;
  ProofMemory proofs_;
};

}  // namespace proteus::auth
