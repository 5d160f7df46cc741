#pragma once

#include <string>
#include <string_view>

#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <proteus/server_async.hpp>

#include "server/testing/raw_client.hpp"

namespace proteus::server {

// Returns the `_meta` member of a modern request.
inline std::string modern_meta(std::string_view capabilities = "{}", std::string_view more = {}) {
  return fmt::format(
      R"("_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}{}}})",
      capabilities, more);
}

inline std::string modern_fields(std::string_view method, std::string_view name = {}) {
  std::string fields = fmt::format("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {}\r\n", method);
  if (!name.empty()) fields += fmt::format("Mcp-Name: {}\r\n", name);
  return fields;
}

inline std::string rpc(std::string_view id, std::string_view method, std::string_view params_members) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{{}}}}})", id, method, params_members);
}

// Sends a complete `tools/call` of a modern client.
inline RawClient::Answer modern_call(RawClient& client, std::string_view name, std::string_view more = {},
                                     std::string_view capabilities = "{}", std::string_view meta = {}) {
  return client.request(
      "POST", modern_fields("tools/call", name),
      rpc("1", "tools/call", fmt::format(R"("name":"{}"{},{})", name, more, modern_meta(capabilities, meta))));
}

// A legacy client with its session.
class LegacyClient {
 public:
  // `more` are whole header lines that every request has.
  LegacyClient(std::uint16_t port, std::string_view version = "2025-11-25", std::string_view capabilities = "{}",
               std::string more = {})
      : client(port), every(std::move(more)) {
    const auto answer = client.request(
        "POST", every,
        rpc("0", "initialize",
            fmt::format(R"("protocolVersion":"{}","capabilities":{},"clientInfo":{{"name":"test","version":"1"}})",
                        version, capabilities)));
    session = answer.field("mcp-session-id");
    hello = answer.json();
  }

  std::string fields() const { return fmt::format("{}Mcp-Session-Id: {}\r\n", every, session); }
  RawClient::Answer post(std::string_view body) { return client.request("POST", fields(), body); }
  RawClient::Answer call(std::string_view id, std::string_view name, std::string_view more = {}) {
    return post(rpc(id, "tools/call", fmt::format(R"("name":"{}"{})", name, more)));
  }

  RawClient client;
  std::string every;
  std::string session;
  boost::json::value hello;
};

inline std::string text_of(const boost::json::value& message) {
  return std::string(message.at("result").at("content").at(0).at("text").as_string());
}

inline std::int64_t code_of(const boost::json::value& message) { return message.at("error").at("code").as_int64(); }

}  // namespace proteus::server
