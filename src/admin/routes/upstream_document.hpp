#pragma once

#include <cstddef>
#include <string>

#include <boost/json/object.hpp>

#include "catalog/view/view.hpp"
#include "gateway/operate/upstream_registry.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::admin {

// Returns an upstream as the API shows it: its settings, flat and as in the configuration, without secrets; their
// origin; and its status. `served` is null if the upstream is not served. Lists such as shadowed, omitted and mapped
// names have at most `most` entries each.
boost::json::object upstream_document(const gateway::RegisteredUpstream& registered,
                                      const gateway::ServedUpstream* served, const catalog::View& everything,
                                      std::size_t most);

std::string write_time(store::Time time);

}  // namespace proteus::admin
