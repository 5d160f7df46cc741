#pragma once

#include <string>
#include <vector>

#include <proteus/error.hpp>

namespace proteus::mcp {

// Whether the error says that the caller's token lacks a scope. Over HTTP it becomes a 403 with a challenge if no part
// of the answer has been sent.
bool lacks_scope(const Error& error);
// Returns the scopes that the client should then request, separated by spaces; empty for other errors.
std::string scopes_to_request(const Error& error);

}  // namespace proteus::mcp

namespace proteus::mcp::errors {

// The error for a valid token that lacks the scopes `missing`. `scopes` are all scopes that the client should request
// for its next token, including those of the current one.
Error insufficient_scope(const std::vector<std::string>& missing, const std::vector<std::string>& scopes);

}  // namespace proteus::mcp::errors
