#pragma once

#include <memory>

#include <proteus/error.hpp>

#include "catalog/view/view.hpp"
#include "mcp/request.hpp"
#include "server/core/call.hpp"

// Turns `call_tool` and `call_read_tool` into the call that they name, before anything else looks at the call, so that
// all later steps are the same (ADR 32).
namespace proteus::gateway {

// Whether a request may be one of the two, judging by its name alone.
inline bool may_name_call(const mcp::Request& request) {
  return (request.name.size() == 9 || request.name.size() == 14) && request.name.starts_with("call_") &&
         request.method->method == mcp::Method::tools_call;
}

// Makes the call stand for the one that it names, if its tool is the gateway's own in this view; otherwise does
// nothing. Fails, with a message for the agent, if the arguments do not name a call correctly.
Result<> name_call(server::Call& call, const catalog::View& view);

}  // namespace proteus::gateway
