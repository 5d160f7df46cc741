#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"

namespace proteus::admin {

// Whom identity providers vouch for, and what the rules make of their claims. The gateway outlives them.
Routes principal_routes(gateway::Gateway& gateway);

}  // namespace proteus::admin
