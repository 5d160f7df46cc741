#include "client/circuit_breaker.hpp"

namespace proteus::client {

bool CircuitBreaker::allows() {
  if (failures_.load(std::memory_order_relaxed) < limit_) return true;
  const std::scoped_lock lock(mutex_);
  if (failures_ < limit_) return true;
  if (probing_ || clock_.now() - opened_at_ < open_for_) return false;
  probing_ = true;
  return true;
}

void CircuitBreaker::succeeded() {
  if (failures_.load(std::memory_order_relaxed) == 0) return;
  const std::scoped_lock lock(mutex_);
  failures_ = 0;
  probing_ = false;
}

void CircuitBreaker::failed() {
  const std::scoped_lock lock(mutex_);
  probing_ = false;
  if (failures_ < limit_) ++failures_;
  if (failures_ == limit_) opened_at_ = clock_.now();
}

void CircuitBreaker::abandoned() {
  if (!probing_.load(std::memory_order_relaxed)) return;
  const std::scoped_lock lock(mutex_);
  probing_ = false;
}

CircuitBreaker::State CircuitBreaker::state() const {
  const std::scoped_lock lock(mutex_);
  if (failures_ < limit_) return State::closed;
  return probing_ || clock_.now() - opened_at_ >= open_for_ ? State::half_open : State::open;
}

std::string_view to_string(CircuitBreaker::State state) {
  switch (state) {
    case CircuitBreaker::State::closed: return "closed";
    case CircuitBreaker::State::open: return "open";
    case CircuitBreaker::State::half_open: return "half_open";
  }
  return "closed";
}

}  // namespace proteus::client
