#pragma once

#include "base/task.hpp"
#include "mcp/capabilities.hpp"
#include "mcp/reply.hpp"
#include "server/call.hpp"

namespace proteus::server {

// Who answers: the port between the protocol's edges and what is served. Functions are called on any worker's
// thread, several at a time.
class Service {
 public:
  virtual ~Service() = default;

  struct Face {
    mcp::ServerCapabilities capabilities;
    mcp::ServerIdentity identity;
    mcp::Caching caching;  // of this answer itself
  };
  // What this caller is told about the server.
  virtual Face face(const Caller& caller) = 0;
  // The Implementation object that modern results are signed with; lives as long as the service.
  virtual std::string_view server_info() const = 0;

  // Answers a request of any method but those of sessions and streams, which the edges answer themselves.
  virtual Task<mcp::Outcome> handle(Call& call) = 0;

  // Whether the `Mcp-Param-*` headers of a call agree with its arguments.
  virtual Result<void> check_parameter_headers(const mcp::Request& request, const mcp::HeaderLookup& lookup) = 0;

  // The part of a filter that can be honoured for this caller.
  virtual mcp::SubscriptionFilter accept(const mcp::SubscriptionFilter& wanted, const Caller& caller) = 0;
};

}  // namespace proteus::server
