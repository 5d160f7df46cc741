#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/token_registry.hpp"

namespace proteus::admin {

// /admin/tokens: shows, makes, rotates and revokes tokens. Both arguments must outlive the routes.
Routes token_routes(gateway::Gateway& gateway, gateway::TokenRegistry& registry);

}  // namespace proteus::admin
