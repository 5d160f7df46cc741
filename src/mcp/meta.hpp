#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

// What travels in `_meta`, and the capabilities that travel there or in the handshake.
namespace proteus::mcp {

namespace meta {
inline constexpr std::string_view kProtocolVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kClientInfo = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kClientCapabilities = "io.modelcontextprotocol/clientCapabilities";
// Ours: the capabilities of the client that a gateway's request to a legacy server is for.
inline constexpr std::string_view kBehindGateway = "proteus/clientCapabilities";
inline constexpr std::string_view kServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kSubscriptionId = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view kProgressToken = "progressToken";
// Of 2025-11-25: the task that a message belongs to.
inline constexpr std::string_view kRelatedTask = "io.modelcontextprotocol/related-task";

// Whether the protocol itself sets this key towards an upstream, rather than passing on what a caller sent.
bool is_protocol_key(std::string_view key);
}  // namespace meta

enum class LogLevel : std::uint8_t { debug, info, notice, warning, error, critical, alert, emergency };

std::string_view to_string(LogLevel level);
std::optional<LogLevel> parse_log_level(std::string_view text);

// What a client can be asked for.
struct ClientCapabilities {
  bool elicitation_form = false;
  bool elicitation_url = false;
  bool sampling = false;
  bool sampling_tools = false;
  bool sampling_context = false;
  bool roots = false;
  bool roots_list_changed = false;  // exists in the legacy era only
};

// Reads the capabilities object of either era; unknown ones are ignored. Fails where it is no object.
Result<ClientCapabilities> parse_client_capabilities(std::string_view raw);
// The object a client sends to declare them.
std::string write_client_capabilities(const ClientCapabilities& capabilities);

}  // namespace proteus::mcp
