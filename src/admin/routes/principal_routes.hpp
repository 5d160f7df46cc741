#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"

namespace proteus::admin {

// /admin/issuers, /admin/rules and /admin/principals/match: the identity providers, and what the rules make of claims.
// The gateway must outlive the routes.
Routes principal_routes(gateway::Gateway& gateway);

}  // namespace proteus::admin
