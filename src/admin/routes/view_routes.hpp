#pragma once

#include "admin/http/route.hpp"
#include "gateway/operate/upstream_registry.hpp"

namespace proteus::admin {

// /admin/view, /admin/why and /admin/principals: what a principal sees, and why. Both must outlive the routes.
Routes view_routes(gateway::Gateway& gateway, gateway::UpstreamRegistry& registry);

}  // namespace proteus::admin
