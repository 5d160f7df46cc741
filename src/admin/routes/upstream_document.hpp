#pragma once

#include <cstddef>
#include <string>

#include <boost/json/object.hpp>

#include "catalog/view/view.hpp"
#include "gateway/operate/upstream_registry.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::admin {

// An upstream as the API shows it: its settings, flat and as in the configuration, without secrets; where they come
// from; and how it is. `served` is null for one that is not served. Of names that are shadowed, left out or mapped at
// most so many are in it.
boost::json::object upstream_document(const gateway::RegisteredUpstream& registered,
                                      const gateway::ServedUpstream* served, const catalog::View& everything,
                                      std::size_t most);

std::string write_time(store::Time time);

}  // namespace proteus::admin
