#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <proteus/server_async.hpp>

#include "base/task.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

// From what handlers return to what the protocol sends.
namespace proteus::server {

mcp::InputRequired to_input_required(const Ask& ask);
mcp::Reply to_reply(const ToolResult& result, mcp::Era era);
mcp::Reply to_reply(const PromptResult& result);
mcp::Reply to_reply(const ResourceResult& result, std::string_view uri);
// A whole result object as text; fails where it is none.
mcp::Outcome to_reply(std::string result_object);

// Runs a handler that may wait; it is cancelled with the call. Whatever it throws becomes an error.
template <class T>
Task<Outcome<T>> run_async(const AsyncHandler<T>& handler, Context& context);

// Runs a handler that does not wait.
template <class T>
Outcome<T> run_plain(const std::function<Outcome<T>(Context&)>& handler, Context& context);

}  // namespace proteus::server
