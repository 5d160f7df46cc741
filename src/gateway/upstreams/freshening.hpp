#pragma once

#include <vector>

#include "base/tasks/task.hpp"
#include "catalog/contexts/access.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::gateway {

// Returns the upstreams that a caller may use whose lists in the catalog are too old to use.
std::vector<ServedUpstream> expired_for(const catalog::Access& access, const UpstreamTable& upstreams);

// Refreshes these upstreams in parallel; returns when all readings have ended, successfully or not.
Task<> freshen(std::vector<ServedUpstream> expired);

}  // namespace proteus::gateway
