#pragma once

#include <string_view>
#include <vector>

#include "gateway/operate/why.hpp"

namespace proteus::gateway {

// Returns, for each upstream that may have the wanted entry, how far the entry gets on its way to the caller. In the
// order in which upstreams win names.
std::vector<Finding> find_obstacles(const Viewpoint& viewpoint, const RegisteredUpstreams& registered,
                                    const Wanted& wanted);

// Returns whether the operator wrote the description of a tool, or a part of it.
bool words_are_shaped(const providers::Upstream& upstream, std::string_view own);

}  // namespace proteus::gateway
