#pragma once

#include <string>
#include <vector>

#include "catalog/contexts/context.hpp"
#include "catalog/view/state.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::gateway {

// Returns warnings for operators: why a context is served without its manifest, and which supplements are for tools
// that nobody has. Takes time proportional to the catalog.
std::vector<std::string> context_warnings(const catalog::Context& context, const catalog::CatalogState& state,
                                          const UpstreamTable& upstreams);

}  // namespace proteus::gateway
