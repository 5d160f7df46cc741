#pragma once

#include <chrono>

#include "server/core/client_requests.hpp"
#include "server/core/service.hpp"

namespace proteus::server {

struct AskingLimits {
  unsigned rounds = 32;  // of questions within one request
  std::chrono::milliseconds deadline = std::chrono::minutes(10);
};

// What cannot be asked fails a legacy client's request in the way its method has for failures.
mcp::Outcome refusal(const Call& call, const std::string& why);

// Answers a legacy client's request, in content of its revision. Where the service needs input, the client is asked
// while its request waits, and the service is called again with the answers, until it is satisfied.
Task<mcp::Outcome> handle_asking(Service& service, Call& call, CallChannel& channel, ClientRequests& requests,
                                 AskingLimits limits);

}  // namespace proteus::server
