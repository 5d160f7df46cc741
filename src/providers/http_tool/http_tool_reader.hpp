#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "providers/http_tool/http_tool.hpp"
#include "providers/http_tool/shared_schemas.hpp"

namespace proteus::providers {

namespace http_tool_limits {
inline constexpr std::size_t kBytes = std::size_t{256} * 1024;  // of a whole tool
inline constexpr std::size_t kFixedParams = 64;
inline constexpr std::chrono::milliseconds kTimeout = std::chrono::minutes(10);
}  // namespace http_tool_limits

// A tool as it was registered, taken apart.
struct ReadTool {
  HttpToolPointer tool;
  std::string definition;  // JSON: what clients see, in its original bytes
  std::string hidden;      // JSON: what clients do not see: url, action, fixed_params, timeout
};

// Fails if Proteus must not send requests to this URL, as far as that is known before its host is resolved.
using UrlCheck = std::function<Result<>(const net::Url&)>;

// Reads a tool from the text of a JSON object. Returns all its faults if there are any. `parsed` is the tree of the
// text, if the caller already has it; the text must then be valid JSON.
std::variant<ReadTool, std::vector<ToolFault>> read_http_tool(std::string_view text, SharedSchemas& schemas,
                                                              const UrlCheck& may_ask,
                                                              const boost::json::value* parsed = nullptr);

// Joins the two parts of a tool to a text for `read_http_tool`.
std::string join_tool(std::string_view definition, std::string_view hidden);

}  // namespace proteus::providers
