#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"

namespace proteus::admin {

// What contexts there are, and what each makes of the tools. The gateway outlives them.
Routes context_routes(gateway::Gateway& gateway);

}  // namespace proteus::admin
