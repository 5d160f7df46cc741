#pragma once

#include <string>
#include <vector>

#include "catalog/context.hpp"
#include "catalog/state.hpp"
#include "gateway/upstreams.hpp"

namespace proteus::gateway {

// What an operator should look at: why it is served without its manifest, and supplements for tools that nobody has.
// Costs in proportion to the catalog.
std::vector<std::string> context_warnings(const catalog::Context& context, const catalog::CatalogState& state,
                                          const UpstreamTable& upstreams);

}  // namespace proteus::gateway
