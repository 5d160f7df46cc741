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

// A fault in one of the tools that somebody wants to register.
struct ToolFault {
  std::string tool;     // its name, printable; empty if it has none
  std::string pointer;  // RFC 6901, within the tool: "/inputSchema/properties"
  std::string message;

  friend bool operator==(const ToolFault&, const ToolFault&) = default;
};

// Whether the client must confirm a call before it runs.
enum class Confirmation : std::uint8_t { none, required };

// A tool that is a URL: a call posts its arguments there. Immutable and thread-safe.
struct HttpTool {
  std::string name;
  net::Url url;
  std::string action;                 // empty for none
  std::string tail;                   // what follows the arguments of every call, as JSON text without braces
  std::vector<std::string> reserved;  // names that cannot be arguments: those of the fixed members, and "action"
  std::optional<std::chrono::milliseconds> timeout;
  Confirmation confirmation = Confirmation::none;
  std::shared_ptr<const json::Schema> input;
  std::shared_ptr<const json::Schema> output;  // null for none
};

using HttpToolPointer = std::shared_ptr<const HttpTool>;

}  // namespace proteus::providers
