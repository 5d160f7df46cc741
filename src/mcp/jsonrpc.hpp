#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <proteus/error.hpp>

#include "mcp/reply.hpp"

// Messages as bytes, in either era. Ids, params and the like are JSON text and go out as they came.
namespace proteus::mcp {

std::string write_request(std::string_view id, std::string_view method, std::string_view params);
std::string write_notification(std::string_view method, std::string_view params);
// An empty id leaves the member out, as for a message whose id could not be read.
std::string write_error(std::string_view id, const Error& error, Era era);

// How results are stamped in an era.
struct ResultStyle {
  Era era = Era::modern;
  std::string_view server_info;  // JSON object; goes into `_meta` of modern results; may be empty
  std::string_view tail;         // `result_tail(server_info)` where that was made beforehand
};

// What ends a modern result that has members and no `_meta` of its own.
std::string result_tail(std::string_view server_info);

// The text in front of and behind a reply's members. `members` of the reply stand between them.
struct ResultFrame {
  fmt::basic_memory_buffer<char, 160> head_text;  // rarely more than fits without an allocation
  std::string own_tail;
  std::string_view prepared_tail;

  std::string_view head() const { return {head_text.data(), head_text.size()}; }
  std::string_view tail() const { return prepared_tail.empty() ? std::string_view(own_tail) : prepared_tail; }
};
ResultFrame frame_result(std::string_view id, const MethodInfo& method, const Reply& reply, const ResultStyle& style);
std::string write_result(std::string_view id, const MethodInfo& method, const Reply& reply, const ResultStyle& style);

// The modern result that asks for input.
std::string write_input_required(std::string_view id, const InputRequired& required, std::string_view request_state,
                                 const ResultStyle& style);

// The error of an error message, as it was received: `raw` is its `error` member.
Error read_error(std::string_view raw);

}  // namespace proteus::mcp
