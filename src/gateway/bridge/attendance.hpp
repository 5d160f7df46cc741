#pragma once

#include <variant>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "client/message/received.hpp"
#include "gateway/bridge/parked_calls.hpp"
#include "gateway/connections/worker.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// What comes of a request: the upstream's answer, or that the client must be asked for something first.
using Forwarded = std::variant<client::Answer, mcp::InputRequired>;

// A client's request waits for what becomes of a call: on the thread of the request, whichever the call's own is. The
// answers that the request came with go to the call. Where the client must be asked, the call is parked, and the ticket
// is the state to come back with. A client that goes away meanwhile cancels the call.
Task<Result<Forwarded>> wait_for_call(server::Call& request, Worker& worker, ParkedCalls& parked,
                                      ParkedCalls::Call call);

}  // namespace proteus::gateway
