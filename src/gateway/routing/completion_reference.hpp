#pragma once

#include <string_view>

#include <proteus/error.hpp>

#include "catalog/definitions/kind.hpp"
#include "mcp/request.hpp"

namespace proteus::gateway {

// What a completion is asked for. Whoever decides by it and whoever passes it on read it here, so that both mean the
// same.
struct CompletionReference {
  catalog::Kind kind;     // a prompt, or a template
  std::string_view name;  // the name or URI: a JSON string, as it stands in the request

  // Fails where it is not of the form that the protocol has, and where a key comes twice: an upstream might read the
  // other one.
  static Result<CompletionReference> of(const mcp::Request& request);
};

}  // namespace proteus::gateway
