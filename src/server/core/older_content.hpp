#pragma once

#include "mcp/reply.hpp"
#include "mcp/request.hpp"

namespace proteus::server {

// A result as a client of an older revision can read it: content of a kind that came later becomes text that says what
// it is, because clients that check what they get would refuse the whole result. Costs a comparison where the client is
// not that old, and a search where nothing has to be done.
void write_out_newer_content(mcp::Reply& reply, const mcp::Request& request);

}  // namespace proteus::server
