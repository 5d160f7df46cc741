#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/shape/tool_shape.hpp"
#include "json/schema/schema.hpp"
#include "mcp/headers.hpp"

namespace proteus::catalog {

// What the calls of one shaped tool need. Immutable.
struct ShapedTool : std::enable_shared_from_this<ShapedTool> {
  ArgumentValues fixed = {};
  ArgumentValues defaults = {};
  bool asks = false;  // the user, first
  std::optional<std::chrono::milliseconds> timeout = {};
  // The parameters that the upstream itself wants mirrored in headers, those of fixed arguments among them.
  std::vector<mcp::MirroredParameter> mirrored = {};
  // What callers may send, where arguments are added to it; null where that cannot be checked here.
  std::shared_ptr<const json::Schema> arguments = nullptr;

  // A call's arguments, as JSON text, as the upstream gets them; empty text stands for none. The caller's own bytes
  // stay. Fails, with what the caller can do about it, where a fixed argument is given, and where the arguments do not
  // fit what the tool is shown to take.
  Result<std::string> complete(std::string_view given) const;
  // The same without those that are fixed: what the caller decides about.
  Result<std::string> with_defaults(std::string_view given) const;
};

}  // namespace proteus::catalog
