#pragma once

#include "admin/http/route.hpp"
#include "gateway/operate/upstream_registry.hpp"

namespace proteus::admin {

// What somebody sees, and why. Both outlive the routes.
Routes view_routes(gateway::Gateway& gateway, gateway::UpstreamRegistry& registry);

}  // namespace proteus::admin
