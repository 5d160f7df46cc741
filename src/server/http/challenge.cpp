#include "server/http/challenge.hpp"

#include <fmt/format.h>

#include "mcp/insufficient_scope.hpp"

namespace proteus::server {

std::string bearer_challenge(const Error& error) {
  if (!mcp::lacks_scope(error)) return "Bearer";
  return fmt::format(R"(Bearer error="insufficient_scope", scope="{}")", mcp::scopes_to_request(error));
}

}  // namespace proteus::server
