#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/upstream_registry.hpp"
#include "store/store.hpp"

namespace proteus::admin {

// /admin/upstreams: to see upstreams, to register, change and remove them, and to have their lists read. All of it
// outlives the routes.
Routes upstream_routes(gateway::Gateway& gateway, gateway::UpstreamRegistry& registry, store::Store& store);

}  // namespace proteus::admin
