#pragma once

#include <string>
#include <string_view>

#include "catalog/view/view.hpp"
#include "gateway/callers/context_view.hpp"
#include "gateway/upstreams/upstreams.hpp"

namespace proteus::gateway {

// Returns the instructions for a caller: the text that was written for its context, or else the instructions of the
// upstreams that it sees. For callers who search, instructions for searching come first. Sentences that name a tool
// which the caller does not see are omitted, whoever wrote them.
//
// The search for such sentences is skipped for a caller who sees everything. Otherwise it takes time proportional to
// the words of the text, which client::kLongestInstructions bounds for each upstream, and to the number of upstreams.
std::string instructions_for(const ContextView* context_view, const catalog::View& view,
                             const UpstreamTable& upstreams);

}  // namespace proteus::gateway
