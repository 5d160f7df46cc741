#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "net/http_server/exchange.hpp"

namespace proteus::admin {

// Whether there is any point in sending requests. Thread-safe.
class Readiness {
 public:
  enum class State : std::uint8_t { starting, ready, draining };

  // Draining is the last one: what becomes ready only then stays as it is.
  void set(State state) {
    State before = state_.load(std::memory_order_relaxed);
    while (before != State::draining && !state_.compare_exchange_weak(before, state, std::memory_order_release)) {
    }
  }
  State state() const { return state_.load(std::memory_order_acquire); }

 private:
  std::atomic<State> state_ = State::starting;
};
std::string_view to_string(Readiness::State state);

// Who may read /metrics on a listener.
enum class MetricsAccess : std::uint8_t { open, with_secret };

// For those who run it: /healthz, whether the process answers; /readyz, whether it serves; /metrics. Requests may come
// on any worker's thread.
class Ops {
 public:
  struct Dependencies {
    const Readiness& readiness;                           // outlives it
    std::function<std::string()> metrics;                 // the text that Prometheus reads
    std::function<bool(const net::Request&)> has_secret;  // whether a request brings the admin secret
    std::function<std::string()> details = {};            // further members of what /readyz answers
  };
  explicit Ops(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

  static bool owns(std::string_view path) { return path == "/healthz" || path == "/readyz" || path == "/metrics"; }
  // A path that it owns.
  Task<> handle(net::Exchange& exchange, MetricsAccess access);

 private:
  const Dependencies dependencies_;
};

}  // namespace proteus::admin
