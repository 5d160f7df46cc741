#pragma once

#include <chrono>
#include <functional>

#include "base/clock.hpp"
#include "net/http_server.hpp"
#include "server/asking.hpp"
#include "server/host_rules.hpp"
#include "server/listeners.hpp"
#include "server/request_state.hpp"
#include "server/service.hpp"
#include "server/session.hpp"

namespace proteus::server {

struct HttpEndpointOptions {
  mcp::Eras eras;
  HostRules hosts;
  // Who sends a request; an error becomes 401, or 404 where there is nothing to find. None: everyone is anonymous.
  std::function<Result<Caller>(const net::Request&)> authenticate;
  std::chrono::milliseconds keep_alive = std::chrono::seconds(15);  // comments on quiet streams
  AskingLimits asking;
  Sessions::Limits sessions;
  json::ScanLimits messages;
};

// One MCP endpoint over HTTP, both eras at once. Requests may come on any worker's thread.
class HttpEndpoint {
 public:
  HttpEndpoint(Service& service, Listeners& listeners, const Clock& clock, SealingKey key, HttpEndpointOptions options);

  // Answers one HTTP request to the endpoint's path.
  Task<> handle(net::Exchange& exchange);

  Sessions& sessions() { return sessions_; }

  // Ends all streams in good order, and cancels what runs for legacy clients. New requests are still
  // answered.
  void end_streams();

 private:
  friend class ModernHttp;
  friend class LegacyHttp;

  class Visit;

  Service& service_;
  Listeners& listeners_;
  const HttpEndpointOptions options_;
  Sessions sessions_;
  RequestStates states_;
};

}  // namespace proteus::server
