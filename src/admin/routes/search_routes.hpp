#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/search/search_tools.hpp"

namespace proteus::admin {

// /admin/search: what callers find, for operators who want to know why. Both arguments must outlive the routes.
Routes search_routes(gateway::Gateway& gateway, gateway::SearchTools& tools);

}  // namespace proteus::admin
