#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string_view>

#include <proteus/client.hpp>

#include "base/clock.hpp"

namespace proteus::client {

// Keeps callers from waiting for an upstream that does not work: after so many failures in a row it is open, and asks
// nothing of the upstream; after a while it lets one request through as a probe, whose outcome decides. Thread-safe.
class CircuitBreaker {
 public:
  using State = Circuit;

  CircuitBreaker(const Clock& clock, unsigned failures, std::chrono::milliseconds open_for)
      : clock_(clock), limit_(failures), open_for_(open_for) {}

  // Whether a request may go to the upstream. One that was let through reports how it ended.
  bool allows();
  void succeeded();
  void failed();
  // It ended without saying anything about the upstream.
  void abandoned();

  State state() const;

 private:
  const Clock& clock_;
  const unsigned limit_;
  const std::chrono::milliseconds open_for_;

  // Read without the lock on the way of every request; changed under it.
  std::atomic<unsigned> failures_ = 0;
  std::atomic<bool> probing_ = false;
  mutable std::mutex mutex_;
  Clock::Monotonic opened_at_{};
};

std::string_view to_string(CircuitBreaker::State state);

}  // namespace proteus::client
