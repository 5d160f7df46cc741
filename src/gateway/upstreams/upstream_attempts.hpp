#pragma once

#include <chrono>
#include <optional>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "client/connection/attempt.hpp"
#include "client/connection/backoff.hpp"
#include "gateway/upstreams/concurrency_limit.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "mcp/method.hpp"

namespace proteus::gateway {

// One request of a client to an upstream, however often it is sent. It takes a place among the upstream's requests,
// asks the circuit, is sent again where that is safe, and is reported to the circuit once:
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
  // All of these outlive it. `began` is when the caller began to wait.
  UpstreamAttempts(const ServedUpstream& upstream, mcp::Method method, Clock::Monotonic began, const Clock& clock,
                   const client::Chance& chance)
      : upstream_(upstream), method_(method), began_(began), clock_(clock), chance_(chance) {}

  // Fails where the upstream has as many requests under way as it may, or where its circuit is open.
  Result<> begin();
  // After `begin` has failed: whether that was the circuit.
  bool cut_off() const { return cut_off_; }

  // Whether to send it once more after this error; ends when it is time to. Lists and reads are sent again where the
  // connection broke or the upstream is unavailable; a tool's call only where no connection could be made, so that it
  // provably never reached the upstream. Only faults that showed at once are tried again, and only where the upstream
  // does not ask for a longer pause than a caller should wait.
  Task<bool> again(const Error& error);

  // How it ended in the end. It gives its place back; only `begin` takes another.
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
  std::optional<client::Attempt> attempt_;  // once it was let through
  bool cut_off_ = false;
};

}  // namespace proteus::gateway
