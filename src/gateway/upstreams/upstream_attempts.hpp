#pragma once

#include <chrono>
#include <optional>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/tasks/task.hpp"
#include "client/connection/attempt.hpp"
#include "client/connection/backoff.hpp"
#include "gateway/upstreams/concurrency_limit.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "mcp/method.hpp"

namespace proteus::gateway {

// One request of a client to an upstream, however often it is sent. Takes a place among the upstream's requests, asks
// the circuit breaker, decides about retries, and reports one outcome to the circuit:
//
//   UpstreamAttempts attempts(...);
//   if (auto admitted = attempts.begin(); !admitted) ...
//   auto answer = co_await send();
//   while (!answer && co_await attempts.again(answer.error())) answer = co_await send();
//   attempts.report(answer);
//
// Belongs to the thread of the request.
class UpstreamAttempts {
 public:
  // All arguments must outlive it. `began` is when the caller began to wait.
  UpstreamAttempts(const ServedUpstream& upstream, mcp::Method method, Clock::Monotonic began, const Clock& clock,
                   const client::Chance& chance)
      : upstream_(upstream), method_(method), began_(began), clock_(clock), chance_(chance) {}

  // Takes a place and asks the circuit. Fails if the upstream has too many requests under way, or if its circuit is
  // open.
  Result<> begin();
  // After `begin` has failed: whether the circuit was open.
  bool cut_off() const { return cut_off_; }

  // Waits, and returns whether to send the request once more after this error. Lists and reads are retried if the
  // connection broke or the upstream is unavailable; calls that act only if no connection could be made, so that they
  // provably never reached the upstream. Only failures that came quickly are retried, and only if the upstream does not
  // ask for a longer pause than a caller should wait.
  Task<bool> again(const Error& error);

  // Reports the final outcome to the circuit and gives the place back. Only `begin` takes another.
  template <class T>
  void report(const Result<T>& answer) {
    attempt_->report(answer);
    attempt_.reset();
    place_ = {};
  }

 private:
  std::optional<std::chrono::milliseconds> pause_after(const Error& error);

  const ServedUpstream& upstream_;
  const mcp::Method method_;
  const Clock::Monotonic began_;
  const Clock& clock_;
  const client::Chance& chance_;
  ConcurrencyLimit::Pass place_;
  unsigned failures_ = 0;
  std::optional<client::Attempt> attempt_;
  bool cut_off_ = false;
};

}  // namespace proteus::gateway
