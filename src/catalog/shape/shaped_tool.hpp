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
  bool asks = false;  // whether the user must confirm each call
  std::optional<std::chrono::milliseconds> timeout = {};
  // If arguments are added: the parameters that the upstream wants mirrored in headers, including fixed ones.
  std::vector<mcp::MirroredParameter> mirrored = {};
  // If arguments are added: the schema of what callers may send; null if it cannot be checked here.
  std::shared_ptr<const json::Schema> arguments = nullptr;

  // Returns the arguments of a call as the upstream gets them; `given` is the caller's JSON text, empty for none. Keeps
  // the caller's own bytes. Fails, with a message that helps the caller to correct the call, if the caller gives a
  // fixed argument or if the arguments do not fit the shown schema.
  Result<std::string> complete(std::string_view given) const;
  // Returns the arguments with the defaults but without the fixed ones: what the user is asked to confirm. Fails like
  // `complete`.
  Result<std::string> with_defaults(std::string_view given) const;
};

}  // namespace proteus::catalog
