#pragma once

#include "gateway/request/service.hpp"

// What the parts of GatewayService hand to each other.
namespace proteus::gateway {

// How long a request takes; told of when it ends.
class GatewayService::Timing {
 public:
  Timing(const GatewayService& service, server::Call& call)
      : service_(service), call_(call), began_(service.clock_.now()) {}

  Clock::Monotonic began() const { return began_; }
  Clock::Monotonic now() const { return service_.clock_.now(); }
  void end(const mcp::Outcome& outcome) const { end(outcome, now()); }
  void end(const mcp::Outcome& outcome, Clock::Monotonic now) const;
  // What ends with this answer, when that is there.
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

// What a request that goes to an upstream has, and needs.
struct GatewayService::Errand {
  ConcurrencyLimit::Pass place;  // among its caller's
  Route route;
  Clock::Monotonic began;  // when it could be sent
  std::string task = {};   // of a request about a task: the upstream's id of it
};

}  // namespace proteus::gateway
