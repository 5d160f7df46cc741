#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "json/schema/schema.hpp"
#include "net/http/url.hpp"

namespace proteus::providers {

// What is wrong with one of the tools that somebody wants to register.
struct ToolFault {
  std::string tool;     // its name, printable; empty where it has none
  std::string pointer;  // RFC 6901, in the tool: "/inputSchema/properties"
  std::string message;

  friend bool operator==(const ToolFault&, const ToolFault&) = default;
};

// Whether a client is asked before a call runs.
enum class Confirmation : std::uint8_t { none, required };

// A tool that is a URL: calling it posts its arguments there. Immutable, and safe to use from any thread.
struct HttpTool {
  std::string name;
  net::Url url;
  std::string action;                 // empty for none
  std::string tail;                   // what follows the arguments of every call, as JSON text without braces
  std::vector<std::string> reserved;  // names that are no arguments: of the fixed members, and of the action
  std::optional<std::chrono::milliseconds> timeout;
  Confirmation confirmation = Confirmation::none;
  std::shared_ptr<const json::Schema> input;
  std::shared_ptr<const json::Schema> output;  // null for none
};

using HttpToolPointer = std::shared_ptr<const HttpTool>;

}  // namespace proteus::providers
