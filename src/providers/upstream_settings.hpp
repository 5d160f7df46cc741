#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/units.hpp"
#include "json/binding.hpp"
#include "mcp/version.hpp"
#include "providers/authentication.hpp"
#include "providers/tool_settings.hpp"

namespace proteus::providers {

enum class Transport : std::uint8_t { streamable_http, sse, stdio };
enum class RefreshStrategy : std::uint8_t { cached, direct_proxy };
enum class NameStyle : std::uint8_t { as_is, portable };
enum class Trust : std::uint8_t { automatic, pin };
// Which sessions callers without a name and without a session get at an upstream that keeps sessions.
enum class AnonymousSessions : std::uint8_t { per_call, shared };

std::string_view to_string(Transport transport);

// All settings of one upstream, with the built-in defaults. A value without any runtime state. A setting that depends
// on others is optional here, and a function below returns the value that applies.
struct UpstreamSettings {
  std::string name = {};
  std::string display_name = {};          // for people
  std::string url = {};                   // or
  std::vector<std::string> command = {};  // a program and its arguments
  std::map<std::string, std::string> environment = {};
  std::vector<std::string> pass_environment = {};
  std::optional<Transport> transport = {};  // detected if not given
  std::optional<mcp::Era> era = {};         // detected if not given
  std::optional<std::string> prefix = {};
  RefreshStrategy refresh_strategy = RefreshStrategy::cached;
  std::optional<bool> meta_propagation_enabled = {};
  bool fail_fast_on_startup = false;
  bool auto_refresh = false;
  std::chrono::milliseconds refresh_interval = std::chrono::minutes(5);
  bool event_driven_refresh = true;
  std::chrono::milliseconds ttl{0};  // 0: off
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  std::chrono::milliseconds call_timeout = std::chrono::minutes(5);
  std::chrono::milliseconds health_interval = std::chrono::seconds(30);
  unsigned max_consecutive_failures = 3;
  unsigned circuit_failures = 5;
  std::chrono::milliseconds circuit_open = std::chrono::seconds(30);
  ByteSize max_message_bytes = mebibytes(16);
  std::chrono::milliseconds program_idle = std::chrono::minutes(5);
  NameStyle names = NameStyle::as_is;
  Trust trust = Trust::automatic;
  AnonymousSessions anonymous_sessions = AnonymousSessions::per_call;
  Authentication authentication = {};
  bool enabled = true;  // otherwise paused
  std::vector<ToolSettings> tools = {};

  // Returns the name, and the display name if there is one, for people to read.
  std::string label() const;
  std::optional<Transport> effective_transport() const;
  std::string effective_prefix() const;
  bool propagates_meta() const;

  friend bool operator==(const UpstreamSettings&, const UpstreamSettings&) = default;
};

// Returns what a grant of the type "oauth" is for: the URL, and the kind of grant, the issuer and the client. A grant
// that is obtained automatically is also for its scopes; a person's is kept when these change, and widened by a
// sign-in.
std::string oauth_target(const UpstreamSettings& settings);

// The keys of `[[upstreams]]`, of `[defaults.upstream]` and of the admin API.
const json::Binding<UpstreamSettings>& upstream_binding();

}  // namespace proteus::providers
