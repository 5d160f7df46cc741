#pragma once

#include <string_view>

#include <proteus/error.hpp>

#include "catalog/definitions/kind.hpp"
#include "mcp/request.hpp"

namespace proteus::gateway {

// The reference of a completion request. Routing and forwarding both read it here, so that they agree on it.
struct CompletionReference {
  catalog::Kind kind;     // a prompt, or a template
  std::string_view name;  // the name or URI: a JSON string, as written in the request

  // Fails if the reference does not have the form of the protocol, or if a key is repeated: an upstream might read the
  // other value.
  static Result<CompletionReference> of(const mcp::Request& request);
};

}  // namespace proteus::gateway
