#pragma once

#include <optional>
#include <string>
#include <utility>

#include "mcp/jsonrpc.hpp"
#include "server/core/request_state.hpp"
#include "server/core/service.hpp"

namespace proteus::server {

// One round of a modern request: opens its state before the service is called, and afterwards turns a need for input
// into the error that a missing capability is, or mints the state for the next round.
class ModernRound {
 public:
  ModernRound(Call& call, const RequestStates& states) : call_(call), states_(states) {}

  // Whether it follows another round, which `open` goes on with.
  bool goes_on() const;
  // Whether binding the request to its state takes long. Whoever has another thread calls `mark_of` there, and gives
  // the result before `open` of a round that goes on, and before `close` where input is required.
  bool is_long() const { return call_.sent().param("arguments").size() > kMostByValue; }
  void set_mark(Result<std::string> mark) { mark_ = std::move(mark); }

  Result<void> open();
  // Whether `open` went on with another round.
  bool went_on() const { return went_on_; }
  void close(mcp::Outcome& outcome);
  // The whole message for an outcome that was closed.
  std::string write(const mcp::Outcome& outcome, const mcp::ResultStyle& style) const;

 private:
  const Result<std::string>& mark();
  Result<void> mint(const mcp::InputRequired& required);

  Call& call_;
  const RequestStates& states_;
  std::optional<Result<std::string>> mark_;  // of the arguments, once it is needed
  std::string request_state_;
  bool went_on_ = false;
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
