#pragma once

#include "admin/route.hpp"
#include "gateway/gateway.hpp"

namespace proteus::admin {

// What contexts there are, and what each makes of the tools. The gateway outlives them.
Routes context_routes(gateway::Gateway& gateway);

}  // namespace proteus::admin
