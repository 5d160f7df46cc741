#pragma once

#include "admin/http/route.hpp"
#include "store/store.hpp"

namespace proteus::admin {

// /admin/audit: who did what over the admin API, and when. The store must outlive the routes.
Routes audit_routes(store::Store& store);

}  // namespace proteus::admin
