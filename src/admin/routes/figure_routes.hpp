#pragma once

#include "admin/http/route.hpp"
#include "gateway/observe/figures.hpp"

namespace proteus::admin {

// /admin/figures: calls, errors and latency of the last hour. `figures` must outlive the routes.
Routes figure_routes(const gateway::Figures& figures);

}  // namespace proteus::admin
