#pragma once

#include <proteus/error.hpp>

#include "auth/oauth/authorization.hpp"
#include "auth/tokens/claims.hpp"
#include "base/clock.hpp"
#include "base/secret.hpp"

namespace proteus::auth::oauth {

// What an ID token says about who signed in. Only for one that the token endpoint itself gave, over TLS or loopback,
// which is why its signature need not be checked (OpenID Connect Core, 3.1.3.7). Fails where it is of another issuer,
// for another client, of another sign-in, or over.
Result<Claims> judge_id_token(const Secret& id_token, const AuthorizationRequest& request, Clock::Wall now);

}  // namespace proteus::auth::oauth
