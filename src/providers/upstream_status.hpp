#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "catalog/definitions/definition.hpp"
#include "catalog/shape/shape.hpp"
#include "client/connection/all_lists.hpp"
#include "client/connection/refresher.hpp"
#include "mcp/version.hpp"
#include "providers/upstream_settings.hpp"

namespace proteus::providers {

using UpstreamState = client::ServerState;

// The state of an upstream, for an operator.
struct UpstreamStatus {
  UpstreamState state = UpstreamState::connecting;
  client::CircuitBreaker::State circuit = client::CircuitBreaker::State::closed;
  client::Watch watch = client::Watch::none;
  std::optional<mcp::Version> version;  // negotiated
  std::optional<Transport> transport;   // in use
  std::optional<Clock::Wall> last_refresh_at;
  std::string last_error;
  unsigned consecutive_failures = 0;
  std::size_t tools = 0;
  std::size_t prompts = 0;
  std::size_t resources = 0;
  std::size_t resource_templates = 0;
  std::vector<catalog::Omission> omissions;
  catalog::ShapeReport shaping;
  std::vector<client::ListFault> list_faults;  // declared lists that are missing, or not up to date
};

}  // namespace proteus::providers
