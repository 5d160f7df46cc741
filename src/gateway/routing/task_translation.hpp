#pragma once

#include <string>
#include <string_view>

#include "client/message/received.hpp"
#include "mcp/reply.hpp"
#include "mcp/request.hpp"

// Tasks between a client and an upstream that speak the same form of them: nothing but ids is another on each side.
namespace proteus::gateway {

// Whether it is to be run as a task of 2025-11-25. In no other revision does the client decide that.
bool asks_for_task(const mcp::Request& request);

// Whether what a request was answered with is, or is about, a task.
bool is_of_task(const mcp::Request& request, const client::Answer& answer);

// The upstream's id of the task that a call began, as written; empty where it has not said.
std::string_view begun_task(const mcp::Request& request, const client::Answer& answer);

// The answer with the client's id in place of the upstream's.
mcp::Reply task_reply(const mcp::Request& request, const client::Answer& answer, std::string_view shown);

// The upstream's id in `_meta` that says which task a message belongs to, as written in `object`; empty for none.
std::string_view related_task(std::string_view object);
// A text with another string in place of `raw`, which is a view of it.
std::string with_string(std::string_view text, std::string_view raw, std::string_view other);

}  // namespace proteus::gateway
