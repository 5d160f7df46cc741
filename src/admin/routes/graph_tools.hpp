#pragma once

#include <string_view>

#include "gateway/core/gateway.hpp"
#include "net/http_server/exchange.hpp"
#include "server/http/host_rules.hpp"

namespace proteus::admin {

// GET /v1/graphs/{context}/mcp/tools: the tools of a context as the caller sees them, for clients without MCP.
// Authentication, Host and Origin checks are those of the MCP endpoint. Requests may come on any worker thread.
class GraphTools {
 public:
  // The gateway must outlive this object.
  GraphTools(gateway::Gateway& gateway, server::HostRules hosts) : gateway_(gateway), hosts_(std::move(hosts)) {}

  static bool owns(std::string_view path);
  Task<> handle(net::Exchange& exchange);

 private:
  Task<Result<std::string>> tools(const server::Caller& caller);

  gateway::Gateway& gateway_;
  const server::HostRules hosts_;
};

}  // namespace proteus::admin
