#pragma once

#include "admin/http/route.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "gateway/datasets/dataset_workshop.hpp"

namespace proteus::admin {

// /admin/datasets: shows all datasets, with why one cannot be used; connects, disconnects, proposes and ratifies them.
// Both arguments must outlive the routes.
Routes dataset_routes(gateway::DatasetRegistry& registry, gateway::DatasetWorkshop& workshop);

}  // namespace proteus::admin
