#pragma once

#include <proteus/error.hpp>

#include "base/log/refusal_log.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/routing/route.hpp"

namespace proteus::gateway {

// Checks that the caller's token has the scopes that the entry requires. The error names all required scopes, together
// with those granted, and is reported to `refusals`. Callers whose tokens have no scopes need none.
Result<> check_scopes(const Route& route, const Principal& principal, RefusalLog& refusals);

}  // namespace proteus::gateway
