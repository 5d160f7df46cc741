#pragma once

#include <memory>
#include <string_view>

#include <proteus/server_async.hpp>

#include "base/tasks/task.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

// Converts what handlers return into what the protocol sends.
namespace proteus::server {

mcp::InputRequired to_input_required(const Ask& ask);
mcp::Reply to_reply(const ToolResult& result, mcp::Era era);
mcp::Reply to_reply(const PromptResult& result);
mcp::Reply to_reply(const ResourceResult& result, std::string_view uri);
// Takes a whole result object as JSON text. Fails if the text is not enclosed in braces.
mcp::Outcome to_reply(std::string result_object);

// Runs a coroutine handler, and cancels it with the call. Everything given must outlive the task.
template <class T>
Task<Outcome<T>> run_async(const AsyncHandler<T>& handler, Context& context);

}  // namespace proteus::server
