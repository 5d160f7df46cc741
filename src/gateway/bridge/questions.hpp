#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "client/handlers.hpp"
#include "mcp/reply.hpp"

// What servers ask for, from one era to the other.
namespace proteus::gateway {

// A legacy server's question as a modern client is told it: with the key that its sender gave it, empty for none, and
// without what only its own era has.
mcp::InputRequest to_modern(client::Question question);

// The questions of a legacy server's error that says which URLs must be visited before the request can succeed; nothing
// where they cannot be read.
std::optional<mcp::InputRequired> url_questions(std::string_view error_data);

// Answers a question that nobody is there for.
Task<Result<std::string>> refuse_question(client::Question question);

// Handlers of everything a server may ask for, so that all of it is declared.
std::shared_ptr<const client::Handlers> declare_everything(client::Handler handler);

}  // namespace proteus::gateway
