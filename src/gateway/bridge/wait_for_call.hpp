#pragma once

#include <variant>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "client/message/received.hpp"
#include "gateway/bridge/parked_calls.hpp"
#include "gateway/connections/worker.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// The outcome of a request: the upstream's answer, or questions that the client must answer first.
using Forwarded = std::variant<client::Answer, mcp::InputRequired>;

// Waits on the thread of `request` for the outcome of `call`, which may belong to another thread. Passes the answers
// that the request carries to the call. If the client must be asked, parks the call and returns its ticket as the state
// for the retry. If the request was cancelled, or is cancelled while it waits, the call is cancelled.
Task<Result<Forwarded>> wait_for_call(server::Call& request, Worker& worker, ParkedCalls& parked,
                                      ParkedCalls::Call call);

}  // namespace proteus::gateway
