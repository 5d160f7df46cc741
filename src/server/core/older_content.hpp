#pragma once

#include "mcp/reply.hpp"
#include "mcp/request.hpp"

namespace proteus::server {

// Rewrites a result for a client of an older revision: content of a type that the revision does not know becomes text
// that describes the content, because clients that check results would reject the whole result. Costs a comparison if
// the client is newer, and a search if there is nothing to rewrite.
void write_out_newer_content(mcp::Reply& reply, const mcp::Request& request);

}  // namespace proteus::server
