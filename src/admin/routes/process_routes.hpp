#pragma once

#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "admin/http/route.hpp"
#include "cluster/member.hpp"
#include "store/store.hpp"

namespace proteus::admin {

// Returns the facts that should be equal in all processes and differ between these two.
std::vector<std::string_view> differing_facts(const boost::json::object& own, const boost::json::object& other);

// /admin/processes: the processes of the cluster. Both arguments must outlive the routes.
Routes process_routes(store::Store& store, const cluster::Member& self);

}  // namespace proteus::admin
