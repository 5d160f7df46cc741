#pragma once

#include "gateway/request/service.hpp"

// What the parts of GatewayService pass to each other.
namespace proteus::gateway {

// Measures a request of a client and reports it when it ends.
class GatewayService::Timing {
 public:
  Timing(const GatewayService& service, server::Call& call)
      : service_(service), call_(call), began_(service.clock_.now()) {}

  Clock::Monotonic began() const { return began_; }
  Clock::Monotonic now() const { return service_.clock_.now(); }
  void end(const mcp::Outcome& outcome) const { end(outcome, now()); }
  void end(const mcp::Outcome& outcome, Clock::Monotonic now) const;
  // Awaits an answer, reports the end, and returns the answer.
  Task<mcp::Outcome> around(Task<mcp::Outcome> answering) const { return end_with(*this, std::move(answering)); }
  Task<mcp::Outcome> refuse(Error why) const { return end_refused(*this, std::move(why)); }

 private:
  static Task<mcp::Outcome> end_with(Timing timing, Task<mcp::Outcome> answering) {
    mcp::Outcome outcome = co_await std::move(answering);
    timing.end(outcome);
    co_return outcome;
  }
  static Task<mcp::Outcome> end_refused(Timing timing, Error why) {
    mcp::Outcome outcome = std::unexpected(std::move(why));
    timing.end(outcome);
    co_return outcome;
  }

  const GatewayService& service_;
  server::Call& call_;
  const Clock::Monotonic began_;
};

inline Task<mcp::Outcome> answer_with(mcp::Reply reply) { co_return reply; }

// A routed request on its way to an upstream or a local provider.
struct GatewayService::Errand {
  ConcurrencyLimit::Pass place;  // of the caller's quota
  Route route;
  Clock::Monotonic began;  // when the request could be sent
  std::string task = {};   // for a request about a task: the upstream's id
};

}  // namespace proteus::gateway
