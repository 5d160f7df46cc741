#pragma once

#include <memory>
#include <string>
#include <vector>

#include "auth/issuers/settings.hpp"
#include "auth/tokens/claims.hpp"
#include "base/clock.hpp"

namespace proteus::auth {

// Who a verified token speaks for. Immutable, and good for any request until `usable_until`, as far as the token is for
// what is asked and the proof is right: see TokenVerifier::check_use.
struct Identity {
  Claims claims;
  std::vector<std::string> scopes;       // granted, and what these imply; `claims.scopes()` has the granted alone
  Clock::Wall expires;                   // the token's end, leeway included; that of an introspection where it has none
  Clock::Wall usable_until;              // when it must be verified again: before `expires` where it was introspected
  std::string thumbprint;                // of the key that it is bound to; empty for none
  bool has_configured_audience = false;  // one that the settings name; else its audiences must be the resource's URL
  Dpop dpop = Dpop::accept;              // of its issuer

  const std::string& issuer() const { return claims.issuer(); }
  const std::string& subject() const { return claims.subject(); }
};

using IdentityPointer = std::shared_ptr<const Identity>;

}  // namespace proteus::auth
