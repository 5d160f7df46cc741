#pragma once

#include <chrono>
#include <string>

#include <proteus/error.hpp>

namespace proteus::mcp {

// Returns how long the caller should wait; zero if the error is not about one of our own limits. Over HTTP, an error
// with a wait becomes a 429 if no part of the answer has been sent.
std::chrono::seconds retry_after(const Error& error);

}  // namespace proteus::mcp

namespace proteus::mcp::errors {

// The error for too many requests, or too many at once. `retry_after` is raised to at least a second and included in
// the error's `data`.
Error over_limit(std::string message, std::chrono::seconds retry_after);

}  // namespace proteus::mcp::errors
