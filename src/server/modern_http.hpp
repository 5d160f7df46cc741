#pragma once

#include "mcp/jsonrpc.hpp"
#include "server/http_endpoint.hpp"

namespace proteus::server {

// Stateless requests over HTTP (2026-07-28). Made anew for each request.
class ModernHttp {
 public:
  explicit ModernHttp(HttpEndpoint& endpoint) : endpoint_(endpoint) {}

  Task<> post(net::Exchange& exchange, json::Message& message, const Caller& caller);

 private:
  Task<> listen(net::Exchange& exchange, const mcp::Request& request, const Caller& caller);
  Task<> call(net::Exchange& exchange, const mcp::Request& request, const Caller& caller);
  mcp::ResultStyle style() const { return {mcp::Era::modern, endpoint_.service_.server_info()}; }

  HttpEndpoint& endpoint_;
};

}  // namespace proteus::server
