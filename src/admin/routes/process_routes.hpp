#pragma once

#include "admin/http/route.hpp"
#include "cluster/member.hpp"
#include "store/store.hpp"

namespace proteus::admin {

// The processes that serve as one: /admin/processes. Both outlive the routes.
Routes process_routes(store::Store& store, const cluster::Member& self);

}  // namespace proteus::admin
