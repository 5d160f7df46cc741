#pragma once

#include <optional>
#include <utility>

#include <proteus/error.hpp>

#include "client/connection/circuit_breaker.hpp"

namespace proteus::client {

// One request to an upstream. Asks the circuit breaker whether it may be sent, and reports the outcome to the breaker;
// destruction without a report counts as `abandoned`. A client that cancels, sends an impossible request, or is denied
// access says nothing about the upstream.
class Attempt {
 public:
  explicit Attempt(CircuitBreaker& breaker) : breaker_(breaker), pass_(breaker.admit()) {}
  ~Attempt() {
    if (pass_) breaker_.abandoned(*pass_);
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  bool may_be_sent() const { return pass_.has_value(); }

  // Call at most once, and only if the request was sent.
  template <class T>
  void report(const Result<T>& answer) {
    const auto pass = *std::exchange(pass_, std::nullopt);
    if (answer || answer.error().kind() == ErrorKind::remote) return breaker_.succeeded();
    if (says_nothing(answer.error())) return breaker_.abandoned(pass);
    breaker_.failed(answer.error(), pass);
  }

 private:
  static bool says_nothing(const Error& error) {
    switch (error.kind()) {
      case ErrorKind::cancelled:
      case ErrorKind::invalid:
      case ErrorKind::exhausted:
      case ErrorKind::unsupported:
      case ErrorKind::unauthenticated:
      case ErrorKind::forbidden:
      case ErrorKind::not_found:
      case ErrorKind::too_large: return true;
      default: return false;
    }
  }

  CircuitBreaker& breaker_;
  std::optional<CircuitBreaker::Pass> pass_;  // nothing if the request may not be sent, or was reported
};

}  // namespace proteus::client
