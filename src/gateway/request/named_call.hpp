#pragma once

#include <memory>

#include <proteus/error.hpp>

#include "catalog/view/view.hpp"
#include "mcp/request.hpp"
#include "server/core/call.hpp"

// `call_tool` and `call_read_tool` are turned at the front into the call that they name, so that whatever comes after
// that is the same for both (ADR 32).
namespace proteus::gateway {

// Whether a request may be one of those, by its name alone.
inline bool may_name_call(const mcp::Request& request) {
  return (request.name.size() == 9 || request.name.size() == 14) && request.name.starts_with("call_") &&
         request.method->method == mcp::Method::tools_call;
}

// Has the call stand for the one that it names, where its tool is ours in this view; elsewhere nothing happens. Fails
// where it does not name one as it should, with a message for the agent.
Result<> name_call(server::Call& call, const catalog::View& view);

}  // namespace proteus::gateway
