#pragma once

#include <proteus/error.hpp>

#include "client/connection/circuit_breaker.hpp"

namespace proteus::client {

// One request to an upstream, as its circuit breaker sees it: whatever way it ends is reported. A client that leaves,
// asks for what cannot be, or for what the upstream does not let it have, says nothing about the upstream.
class Attempt {
 public:
  explicit Attempt(CircuitBreaker& breaker) : breaker_(breaker) {}
  ~Attempt() {
    if (!reported_) breaker_.abandoned();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  template <class T>
  void report(const Result<T>& answer) {
    reported_ = true;
    if (answer || answer.error().kind() == ErrorKind::remote) return breaker_.succeeded();
    if (says_nothing(answer.error())) return breaker_.abandoned();
    breaker_.failed(answer.error());
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
  bool reported_ = false;
};

}  // namespace proteus::client
