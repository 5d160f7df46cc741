#pragma once

#include <string>

#include "mcp/jsonrpc.hpp"
#include "server/request_state.hpp"
#include "server/service.hpp"

namespace proteus::server {

// Runs one round of a modern request: opens its state, calls the service, and turns a need for input into the
// error that a missing capability is, or mints the state for the next round.
class ModernAnswer {
 public:
  ModernAnswer(Service& service, const RequestStates& states) : service_(service), states_(states) {}

  Task<mcp::Outcome> run(Call& call);
  // The state to send where the outcome asks for input.
  const std::string& request_state() const { return request_state_; }

 private:
  Service& service_;
  const RequestStates& states_;
  std::string request_state_;
};

// What `server/discover` is answered with.
mcp::Reply discover_reply(Service& service, const Caller& caller, mcp::Eras eras);
// The result that ends a listen stream in good order.
std::string listen_result(std::string_view id, const mcp::ResultStyle& style);

}  // namespace proteus::server
