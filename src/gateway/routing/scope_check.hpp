#pragma once

#include <proteus/error.hpp>

#include "base/refusal_log.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/routing/route.hpp"

namespace proteus::gateway {

// Whether a caller's token has the scopes that what it asks for requires. The error names all that are needed at once,
// together with those granted, and is reported to `refusals`. Nothing is asked of callers whose tokens have no scopes.
Result<> check_scopes(const Route& route, const Principal& principal, RefusalLog& refusals);

}  // namespace proteus::gateway
