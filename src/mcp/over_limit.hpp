#pragma once

#include <chrono>
#include <string>

#include <proteus/error.hpp>

namespace proteus::mcp {

// How long whoever was told so should wait; zero where the error is not about a limit of ours. Over HTTP such an error
// is a 429, as long as nothing of the answer has been sent.
std::chrono::seconds retry_after(const Error& error);

}  // namespace proteus::mcp

namespace proteus::mcp::errors {

// Too many requests, or too many at once. `retry_after` is at least a second, and part of the error's `data`.
Error over_limit(std::string message, std::chrono::seconds retry_after);

}  // namespace proteus::mcp::errors
