#pragma once

#include <chrono>

#include "admin/http/route.hpp"
#include "gateway/observe/change_log.hpp"

namespace proteus::admin {

// /admin/changes: what upstreams changed, as a page or as an open stream. The log must outlive the routes.
Routes change_routes(gateway::ChangeLog& changes,
                     std::chrono::milliseconds keep_alive = std::chrono::milliseconds(15'000));

}  // namespace proteus::admin
