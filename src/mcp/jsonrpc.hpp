#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <proteus/error.hpp>

#include "mcp/reply.hpp"

// Writes messages of either era. Ids, params and the like are JSON text and written unchanged.
namespace proteus::mcp {

std::string write_request(std::string_view id, std::string_view method, std::string_view params);
std::string write_notification(std::string_view method, std::string_view params);
// Omits the member `id` if `id` is empty, as for a message whose id could not be read.
std::string write_error(std::string_view id, const Error& error, Era era);

// What the writer adds to results in an era.
struct ResultStyle {
  Era era = Era::modern;
  std::string_view server_info;  // JSON object for the `_meta` of modern results; may be empty
  std::string_view tail;         // `result_tail(server_info)` if prepared; must outlive the frames
};

// Returns the end of a modern result that has members but no `_meta` of its own.
std::string result_tail(std::string_view server_info);

// The text before and after `Reply::members` in a result.
struct ResultFrame {
  fmt::basic_memory_buffer<char, 160> head_text;  // rarely needs an allocation
  std::string own_tail;
  std::string_view prepared_tail;

  std::string_view head() const { return {head_text.data(), head_text.size()}; }
  std::string_view tail() const { return prepared_tail.empty() ? std::string_view(own_tail) : prepared_tail; }
};
ResultFrame frame_result(std::string_view id, const MethodInfo& method, const Reply& reply, const ResultStyle& style);
std::string write_result(std::string_view id, const MethodInfo& method, const Reply& reply, const ResultStyle& style);

// Writes the modern result that asks for input.
std::string write_input_required(std::string_view id, const InputRequired& required, std::string_view request_state,
                                 const ResultStyle& style);

// Reads a received error; `raw` is the member `error` of the message. Never fails: a malformed error gives a general
// one.
Error read_error(std::string_view raw);

}  // namespace proteus::mcp
