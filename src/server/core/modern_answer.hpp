#pragma once

#include <string>

#include "mcp/jsonrpc.hpp"
#include "server/core/request_state.hpp"
#include "server/core/service.hpp"

namespace proteus::server {

// One round of a modern request: opens its state before the service is called, and afterwards turns a need for input
// into the error that a missing capability is, or mints the state for the next round.
class ModernRound {
 public:
  ModernRound(Call& call, const RequestStates& states) : call_(call), states_(states) {}

  Result<void> open();
  void close(mcp::Outcome& outcome);
  // The whole message for an outcome that was closed.
  std::string write(const mcp::Outcome& outcome, const mcp::ResultStyle& style) const;

 private:
  Result<void> mint(const mcp::InputRequired& required);

  Call& call_;
  const RequestStates& states_;
  std::string request_state_;
};

// All of it, for a service that may have to wait.
Task<mcp::Outcome> run_round(ModernRound& round, Service& service, Call& call);

// What `server/discover` is answered with.
mcp::Reply discover_reply(Service& service, const Caller& caller, mcp::Eras eras);
// The result that ends a listen stream in good order.
std::string listen_result(std::string_view id, const mcp::ResultStyle& style);

// The resources that a stream is not told of.
std::vector<std::string> refused_uris(const std::vector<Service::Refused>& refused);

}  // namespace proteus::server
