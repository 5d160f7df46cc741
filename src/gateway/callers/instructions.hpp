#pragma once

#include <string>
#include <string_view>

#include "catalog/view/view.hpp"
#include "gateway/callers/context_view.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::gateway {

// What a caller is told at its start: the text that was written for its context, or what the upstreams that it sees say
// of themselves. A sentence that names a tool which the caller does not see is left out, whoever wrote it.
//
// Costs nothing more where a caller sees everything; elsewhere in proportion to the words of the text, which
// client::kLongestInstructions bounds for each upstream, and to the number of upstreams.
std::string instructions_for(const ContextView* context_view, const catalog::View& view,
                             const UpstreamTable& upstreams);

}  // namespace proteus::gateway
