#pragma once

#include <string>
#include <vector>

#include <proteus/error.hpp>

namespace proteus::mcp {

// Whether an error says that the caller's token lacks a scope. Over HTTP such an error is a 403 with a challenge, as
// long as nothing of the answer has been sent.
bool lacks_scope(const Error& error);
// The scopes that the client is to ask for then, as one text with spaces between.
std::string scopes_to_request(const Error& error);

}  // namespace proteus::mcp

namespace proteus::mcp::errors {

// A token that is good, but not for this. `missing` are those it lacks; `scopes` all that a token for this request
// should have, those it has now included.
Error insufficient_scope(const std::vector<std::string>& missing, const std::vector<std::string>& scopes);

}  // namespace proteus::mcp::errors
