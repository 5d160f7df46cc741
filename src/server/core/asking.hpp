#pragma once

#include <chrono>

#include "server/core/client_requests.hpp"
#include "server/core/service.hpp"

namespace proteus::server {

struct AskingLimits {
  unsigned rounds = 32;  // rounds of questions within one request
  std::chrono::milliseconds deadline = std::chrono::minutes(10);
};

// Returns the failure of a legacy request whose client could not be asked: a tool error for a tool call, a protocol
// error otherwise.
mcp::Outcome refusal(const Call& call, const std::string& why);

// Answers a legacy request, in content that the client's revision knows. If the service needs input, asks the client
// while the request waits, and calls the service again with the answers until it needs no more. Everything given must
// outlive the task.
Task<mcp::Outcome> handle_asking(Service& service, Call& call, CallChannel& channel, ClientRequests& requests,
                                 AskingLimits limits);

}  // namespace proteus::server
