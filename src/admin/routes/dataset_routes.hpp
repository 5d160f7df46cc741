#pragma once

#include "admin/http/route.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "gateway/datasets/dataset_workshop.hpp"

namespace proteus::admin {

// /admin/datasets: to see the datasets there are, with why one cannot be used, to connect and disconnect them, and to
// propose and ratify them. Both outlive the routes.
Routes dataset_routes(gateway::DatasetRegistry& registry, gateway::DatasetWorkshop& workshop);

}  // namespace proteus::admin
