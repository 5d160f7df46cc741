#pragma once

#include "admin/http/route.hpp"
#include "store/store.hpp"

namespace proteus::admin {

// /admin/audit: who did what here, and when. The store outlives the routes.
Routes audit_routes(store::Store& store);

}  // namespace proteus::admin
