#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "net/http_server/exchange.hpp"

namespace proteus::admin {

// Whether the gateway is ready for requests. Thread-safe.
class Readiness {
 public:
  enum class State : std::uint8_t { starting, ready, draining };

  // `draining` is final: later calls have no effect.
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

// The endpoints for monitoring: /healthz (the process answers), /readyz (it serves) and /metrics. Requests may come on
// any worker thread.
class Ops {
 public:
  struct Dependencies {
    const Readiness& readiness;                           // must outlive Ops
    std::function<std::string()> metrics;                 // text in the format of Prometheus
    std::function<bool(const net::Request&)> has_secret;  // whether a request has the secret of a key
    std::function<std::string()> details = {};            // members to append to the answer of /readyz
  };
  explicit Ops(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

  static bool owns(std::string_view path) { return path == "/healthz" || path == "/readyz" || path == "/metrics"; }
  // `owns` must be true for the path.
  Task<> handle(net::Exchange& exchange, MetricsAccess access);

 private:
  const Dependencies dependencies_;
};

}  // namespace proteus::admin
