#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/upstream_registry.hpp"
#include "store/store.hpp"

namespace proteus::admin {

// /admin/upstreams: shows, registers, changes and removes upstreams, and refreshes their lists. All arguments must
// outlive the routes.
Routes upstream_routes(gateway::Gateway& gateway, gateway::UpstreamRegistry& registry, store::Store& store);

}  // namespace proteus::admin
