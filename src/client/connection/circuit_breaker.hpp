#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/client.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"

namespace proteus::client {

// Keeps callers from waiting for a server that does not work. After so many failures in a row the circuit opens, and
// nothing is asked of the server; after a while one request is let through as a probe, whose outcome decides. The log
// tells when it opens and when it closes. Thread-safe.
class CircuitBreaker {
 public:
  using State = Circuit;

  // `name` is the server's in the log.
  CircuitBreaker(const Clock& clock, unsigned failures, std::chrono::milliseconds open_for,
                 std::string name = "the server")
      : clock_(clock), limit_(failures), open_for_(open_for), name_(std::move(name)) {}

  // Whether a request may go to the server. One that was let through reports how it ended, once; see Attempt.
  bool allows();
  void succeeded();
  // It stays open for as long as the server asked to be left alone, if that is longer than usual.
  void failed(const Error& why);
  // It ended without saying anything about the server.
  void abandoned();

  struct Status {
    State state = State::closed;
    std::optional<Error> failure;  // the last one; nothing after a success
    Clock::Monotonic failed_at{};
    Clock::Monotonic left_alone_until{};  // what the server asked for when it last failed
  };
  Status status() const;
  State state() const;

 private:
  State state_now() const;

  const Clock& clock_;
  const unsigned limit_;
  const std::chrono::milliseconds open_for_;
  const std::string name_;

  // Read without the lock on the way of every request; changed under it.
  std::atomic<unsigned> failures_ = 0;
  std::atomic<bool> probing_ = false;
  mutable std::mutex mutex_;
  Clock::Monotonic open_until_{};
  Clock::Monotonic failed_at_{};
  std::optional<Error> failure_;
};

std::string_view to_string(CircuitBreaker::State state);

}  // namespace proteus::client
