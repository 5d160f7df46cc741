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
  std::string definition;  // JSON: what clients see, in the bytes it was given in
  std::string hidden;      // JSON: what they do not see: url, action, fixed_params, timeout
};

// Whether somebody may have us ask this URL, as far as can be told before its host is resolved.
using UrlCheck = std::function<Result<>(const net::Url&)>;

// Reads a tool from the text of a JSON object; the text must be JSON. Everything that is wrong with it is said.
// `parsed` is the tree of the text, where the caller has it already.
std::variant<ReadTool, std::vector<ToolFault>> read_http_tool(std::string_view text, SharedSchemas& schemas,
                                                              const UrlCheck& may_ask,
                                                              const boost::json::value* parsed = nullptr);

// The text of a tool from its two halves, as `read_http_tool` takes it.
std::string join_tool(std::string_view definition, std::string_view hidden);

}  // namespace proteus::providers
