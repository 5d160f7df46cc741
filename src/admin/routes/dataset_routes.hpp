#pragma once

#include "admin/http/route.hpp"
#include "gateway/datasets/dataset_registry.hpp"

namespace proteus::admin {

// /admin/datasets: to see the datasets there are, with why one cannot be used, and to connect and disconnect them. The
// registry outlives the routes.
Routes dataset_routes(gateway::DatasetRegistry& registry);

}  // namespace proteus::admin
