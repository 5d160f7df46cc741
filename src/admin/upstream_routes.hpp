#pragma once

#include "admin/route.hpp"
#include "gateway/gateway.hpp"
#include "gateway/upstream_registry.hpp"
#include "store/store.hpp"

namespace proteus::admin {

// /admin/upstreams: to see upstreams, to register, change and remove them, and to have their lists read. All of it
// outlives the routes.
Routes upstream_routes(gateway::Gateway& gateway, gateway::UpstreamRegistry& registry, store::Store& store);

}  // namespace proteus::admin
