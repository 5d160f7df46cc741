#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"

namespace proteus::admin {

// /admin/contexts and /admin/catalog/tools: contexts, and the tools in each. The gateway must outlive the routes.
Routes context_routes(gateway::Gateway& gateway);

}  // namespace proteus::admin
