#include "mcp/insufficient_scope.hpp"

#include <fmt/format.h>

#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::mcp {

bool lacks_scope(const Error& error) {
  return error.kind() == ErrorKind::forbidden && !error.data().empty() &&
         json::find_member(error.data(), "error") == R"("insufficient_scope")";
}

std::string scopes_to_request(const Error& error) {
  if (!lacks_scope(error)) return {};
  return json::decode_string(json::find_member(error.data(), "scope")).value_or("");
}

}  // namespace proteus::mcp

namespace proteus::mcp::errors {

Error insufficient_scope(const std::vector<std::string>& missing, const std::vector<std::string>& scopes) {
  return Error(ErrorKind::forbidden,
               fmt::format("The access token lacks a scope that this needs: {}", fmt::join(missing, " ")))
      .with_rpc_code(code::kInvalidRequest)
      .with_data(fmt::format(R"({{"error":"insufficient_scope","scope":{}}})",
                             json::quote(fmt::format("{}", fmt::join(scopes, " ")))));
}

}  // namespace proteus::mcp::errors
