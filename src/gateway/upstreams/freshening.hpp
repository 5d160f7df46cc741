#pragma once

#include <vector>

#include "base/task.hpp"
#include "catalog/contexts/access.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::gateway {

// The upstreams a caller may see whose part of the catalog has become too old to use.
std::vector<ServedUpstream> expired_for(const catalog::Access& access, const UpstreamTable& upstreams);

// Reads the lists of these again, side by side; ends when they are as fresh as they can be.
Task<> freshen(std::vector<ServedUpstream> expired);

}  // namespace proteus::gateway
