#pragma once

#include <optional>
#include <string_view>

#include "client/message/handlers.hpp"
#include "mcp/reply.hpp"

// What servers ask for, from one era to the other.
namespace proteus::gateway {

// A legacy server's question as a modern client is told it: with the key that its sender gave it, empty for none, and
// without what only its own era has.
mcp::InputRequest to_modern(client::Question question);

// The questions of a legacy server's error that says which URLs must be visited before the request can succeed; nothing
// where they cannot be read.
std::optional<mcp::InputRequired> url_questions(std::string_view error_data);

}  // namespace proteus::gateway
