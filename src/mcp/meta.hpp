#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

// Keys of `_meta`, and the client capabilities, which are sent in `_meta` or in the handshake.
namespace proteus::mcp {

namespace meta {
inline constexpr std::string_view kProtocolVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kClientInfo = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kClientCapabilities = "io.modelcontextprotocol/clientCapabilities";
// Our extension: the capabilities of the client on whose behalf a gateway sends a request to a legacy server.
inline constexpr std::string_view kBehindGateway = "proteus/clientCapabilities";
inline constexpr std::string_view kServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kSubscriptionId = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view kProgressToken = "progressToken";
// In 2025-11-25: the task to which a message belongs.
inline constexpr std::string_view kRelatedTask = "io.modelcontextprotocol/related-task";

// Whether Proteus sets this key itself in requests to upstreams instead of forwarding the caller's value.
bool is_protocol_key(std::string_view key);
}  // namespace meta

enum class LogLevel : std::uint8_t { debug, info, notice, warning, error, critical, alert, emergency };

std::string_view to_string(LogLevel level);
std::optional<LogLevel> parse_log_level(std::string_view text);

// What a server may request from a client.
struct ClientCapabilities {
  bool elicitation_form = false;
  bool elicitation_url = false;
  bool sampling = false;
  bool sampling_tools = false;
  bool sampling_context = false;
  bool roots = false;
  bool roots_list_changed = false;  // only in the legacy era
};

// Reads the capabilities object of either era. Ignores unknown capabilities. Fails if `raw` is not a valid object.
Result<ClientCapabilities> parse_client_capabilities(std::string_view raw);
// Writes the object in which a client declares its capabilities.
std::string write_client_capabilities(const ClientCapabilities& capabilities);

}  // namespace proteus::mcp
