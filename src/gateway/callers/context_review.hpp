#pragma once

#include <string>
#include <vector>

#include "catalog/contexts/context.hpp"
#include "catalog/view/state.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::gateway {

// What an operator should look at: why it is served without its manifest, and supplements for tools that nobody has.
// Costs in proportion to the catalog.
std::vector<std::string> context_warnings(const catalog::Context& context, const catalog::CatalogState& state,
                                          const UpstreamTable& upstreams);

}  // namespace proteus::gateway
