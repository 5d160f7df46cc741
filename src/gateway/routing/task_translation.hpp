#pragma once

#include <string>
#include <string_view>

#include "client/message/received.hpp"
#include "mcp/reply.hpp"
#include "mcp/request.hpp"

// Tasks between a client and an upstream that use the same form: only ids differ between the two sides.
namespace proteus::gateway {

// Whether a client asks to run the call as a task, which only clients of 2025-11-25 decide.
bool asks_for_task(const mcp::Request& request);

// Whether the answer is, or is about, a task.
bool is_of_task(const mcp::Request& request, const client::Answer& answer);

// Returns the upstream's id of the task that a call began, as written; empty if there is none.
std::string_view begun_task(const mcp::Request& request, const client::Answer& answer);

// Returns the answer with the client's id in place of the upstream's.
mcp::Reply task_reply(const mcp::Request& request, const client::Answer& answer, std::string_view shown);

// Returns the upstream's task id in the `_meta` of `object`, which names the task that a message belongs to, as
// written; empty for none.
std::string_view related_task(std::string_view object);
// Returns the text with the JSON string `raw`, a view of it, replaced by another.
std::string with_string(std::string_view text, std::string_view raw, std::string_view other);

}  // namespace proteus::gateway
