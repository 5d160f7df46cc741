#pragma once

#include <optional>
#include <string>
#include <utility>

#include "mcp/jsonrpc.hpp"
#include "server/core/request_state.hpp"
#include "server/core/service.hpp"

namespace proteus::server {

// One round of a modern request. `open` opens the state of the request before the service is called. If the service
// needs input, `close` mints the state for the next round, or turns the outcome into an error if the client lacks a
// capability.
class ModernRound {
 public:
  ModernRound(Call& call, const RequestStates& states) : call_(call), states_(states) {}

  // Whether the request continues an earlier round, which `open` restores.
  bool goes_on() const;
  // Whether binding the request to its state takes long. A caller that has a background thread calls `mark_of` there,
  // and `set_mark` before `open` if `goes_on`, and before `close` if input is required.
  bool is_long() const { return call_.sent().param("arguments").size() > kMostByValue; }
  void set_mark(Result<std::string> mark) { mark_ = std::move(mark); }

  Result<void> open();
  // Whether `open` was called for a request that continues an earlier round.
  bool went_on() const { return went_on_; }
  void close(mcp::Outcome& outcome);
  // Returns the whole message for an outcome after `close`.
  std::string write(const mcp::Outcome& outcome, const mcp::ResultStyle& style) const;

 private:
  const Result<std::string>& mark();
  Result<void> mint(const mcp::InputRequired& required);

  Call& call_;
  const RequestStates& states_;
  std::optional<Result<std::string>> mark_;  // digest of the arguments, once it is needed
  std::string request_state_;
  bool went_on_ = false;
};

// Runs a whole round, for a service that may have to wait.
Task<mcp::Outcome> run_round(ModernRound& round, Service& service, Call& call);

// Returns the answer to `server/discover`.
mcp::Reply discover_reply(Service& service, const Caller& caller, mcp::Eras eras);
// Returns the result that ends a listen stream in good order.
std::string listen_result(std::string_view id, const mcp::ResultStyle& style);

std::vector<std::string> refused_uris(const std::vector<Service::Refused>& refused);

}  // namespace proteus::server
