#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/client.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"

namespace proteus::client {

// Keeps callers from waiting for a server that does not work. After several failures in a row the circuit opens, and
// requests are refused. After a while one request may pass as a probe; its outcome closes the circuit or keeps it open.
// Logs when the circuit opens and closes. Thread-safe.
class CircuitBreaker {
 public:
  using State = Circuit;

  // Opens after `failures` failures in a row, for `open_for` at least. `name` is the name of the server in the log.
  CircuitBreaker(const Clock& clock, unsigned failures, std::chrono::milliseconds open_for,
                 std::string name = "the server")
      : clock_(clock), limit_(failures), open_for_(open_for), name_(std::move(name)) {}

  // A request that may be sent: the number of the probe, or kUsual. The outcome of a request that was sent before the
  // circuit opened must not count as that of the probe.
  using Pass = std::uint64_t;
  static constexpr Pass kUsual = 0;

  // Returns nothing if no request may be sent. Otherwise the caller must report its outcome exactly once; see Attempt.
  std::optional<Pass> admit();
  void succeeded();
  // If the server asked for a longer pause than `open_for`, the circuit stays open for that pause.
  void failed(const Error& why, Pass pass = kUsual);
  // The request ended without saying anything about the server.
  void abandoned(Pass pass);

  struct Status {
    State state = State::closed;
    std::optional<Error> failure;  // the last failure; nothing after a success
    Clock::Monotonic failed_at{};
    Clock::Monotonic left_alone_until{};  // end of the pause that the server asked for when it last failed
  };
  Status status() const;
  State state() const;

 private:
  State state_now() const;
  void end_probe(Pass pass);

  const Clock& clock_;
  const unsigned limit_;
  const std::chrono::milliseconds open_for_;
  const std::string name_;

  // Read without the lock for every request; changed only under the lock.
  std::atomic<unsigned> failures_ = 0;
  mutable std::mutex mutex_;
  Pass probe_ = kUsual;  // the probe under way
  Pass last_probe_ = kUsual;
  Clock::Monotonic open_until_{};
  Clock::Monotonic failed_at_{};
  std::optional<Error> failure_;
};

std::string_view to_string(CircuitBreaker::State state);

}  // namespace proteus::client
