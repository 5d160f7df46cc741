#pragma once

#include <memory>
#include <string>
#include <vector>

#include "auth/issuers/settings.hpp"
#include "auth/tokens/claims.hpp"
#include "base/clock.hpp"

namespace proteus::auth {

// Who a verified token speaks for. Immutable. Good until `usable_until` for any request that TokenVerifier::check_use
// accepts.
struct Identity {
  Claims claims;
  std::vector<std::string> scopes;  // granted scopes and those they imply; `claims.scopes()` has only the granted ones
  Clock::Wall expires;              // end of the token plus leeway; end of the introspection if the token has none
  Clock::Wall usable_until;         // when it must be verified again: before `expires` if it was introspected
  std::string thumbprint;           // of the key that the token is bound to; empty if it is not bound
  bool has_configured_audience = false;  // the settings name one of its audiences; else one must be the resource's URL
  Dpop dpop = Dpop::accept;              // the setting of its issuer

  const std::string& issuer() const { return claims.issuer(); }
  const std::string& subject() const { return claims.subject(); }
};

using IdentityPointer = std::shared_ptr<const Identity>;

}  // namespace proteus::auth
