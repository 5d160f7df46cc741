#pragma once

#include <string_view>
#include <vector>

#include "gateway/operate/why.hpp"

namespace proteus::gateway {

// How far something comes at each upstream that may have it, in the order in which they win names.
std::vector<Finding> find_obstacles(const Viewpoint& viewpoint, const RegisteredUpstreams& registered,
                                    const Wanted& wanted);

// Whether the operator wrote the description of a tool, or a part of it.
bool words_are_shaped(const providers::Upstream& upstream, std::string_view own);

}  // namespace proteus::gateway
