#pragma once

#include <optional>
#include <string_view>

#include "client/message/handlers.hpp"
#include "mcp/reply.hpp"

// Translates questions of servers between the eras.
namespace proteus::gateway {

// Translates a legacy server's question for a modern client: with the key that the server set, empty for none, and
// without members that only the legacy era has.
mcp::InputRequest to_modern(client::Question question);

// Translates the error of a legacy server that names URLs to visit before the request can succeed. Returns nothing if
// the URLs cannot be read.
std::optional<mcp::InputRequired> url_questions(std::string_view error_data);

}  // namespace proteus::gateway
