#include "server/http/cors.hpp"

#include "net/http_server/response_head.hpp"

namespace proteus::server {
namespace {

constexpr std::string_view kUsualHeaders =
    "Authorization, DPoP, Content-Type, Accept, Last-Event-ID, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, "
    "Mcp-Name";

}  // namespace

std::string cors_fields(std::string_view origin) {
  std::string lines;
  net::append_field(lines, "Access-Control-Allow-Origin", origin);
  lines +=
      "Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate, DPoP-Nonce, Retry-After\r\nVary: Origin\r\n";
  return lines;
}

std::string options_fields(const net::Request& request, std::string_view methods) {
  const net::Fields& fields = request.fields();
  std::string lines;
  net::append_field(lines, "Allow", methods);
  if (!fields.find("Origin") || !fields.find("Access-Control-Request-Method")) return lines;
  net::append_field(lines, "Access-Control-Allow-Methods", methods);
  // Allows any header: tools choose the names of Mcp-Param-*, and an operator's proxy may need headers of its own. The
  // operator has allowed this page.
  net::append_field(lines, "Access-Control-Allow-Headers",
                    fields.find("Access-Control-Request-Headers").value_or(kUsualHeaders));
  if (fields.find("Access-Control-Request-Private-Network") == "true") {
    lines += "Access-Control-Allow-Private-Network: true\r\n";
  }
  // Two hours, the maximum of some browsers.
  lines += "Access-Control-Max-Age: 7200\r\nVary: Access-Control-Request-Headers\r\n";
  return lines;
}

}  // namespace proteus::server
