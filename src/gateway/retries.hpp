#pragma once

#include <chrono>
#include <optional>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "client/backoff.hpp"
#include "mcp/method.hpp"

namespace proteus::gateway {

// Whether a request that failed on its way to an upstream is sent again, and when. Lists and reads are, where the
// connection broke or could not be made; a tool's call only where it could not be made, and so provably never reached
// the upstream. Only faults that showed at once are tried again: whoever waited for one has waited long enough.
class Retries {
 public:
  // Both outlive it.
  Retries(mcp::Method method, const Clock& clock, const client::Chance& chance)
      : method_(method), clock_(clock), chance_(chance), began_(clock.now()) {}

  // How long to wait before the next try; nothing where there is to be none.
  std::optional<std::chrono::milliseconds> next(const Error& error);

 private:
  const mcp::Method method_;
  const Clock& clock_;
  const client::Chance& chance_;
  const Clock::Monotonic began_;
  unsigned failures_ = 0;
};

}  // namespace proteus::gateway
