#pragma once

#include "admin/http/route.hpp"
#include "base/tasks/background_threads.hpp"
#include "gateway/observe/records.hpp"

namespace proteus::admin {

// /admin/records: the last calls to upstreams. `records` is null if none are kept. Both must outlive the routes.
Routes record_routes(const gateway::Records* records, BackgroundThreads& threads);

}  // namespace proteus::admin
