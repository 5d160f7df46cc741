#include "client/connection/circuit_breaker.hpp"

#include <algorithm>

#include "base/log/log.hpp"

namespace proteus::client {

std::optional<CircuitBreaker::Pass> CircuitBreaker::admit() {
  if (failures_.load(std::memory_order_relaxed) < limit_) return kUsual;
  const std::scoped_lock lock(mutex_);
  if (failures_ < limit_) return kUsual;
  if (probe_ != kUsual || clock_.now() < open_until_) return std::nullopt;
  return probe_ = ++last_probe_;
}

void CircuitBreaker::end_probe(Pass pass) {
  if (probe_ == pass) probe_ = kUsual;
}

void CircuitBreaker::succeeded() {
  if (failures_.load(std::memory_order_relaxed) == 0) return;
  {
    const std::scoped_lock lock(mutex_);
    probe_ = kUsual;
    failure_.reset();
    if (failures_.exchange(0) < limit_) return;
  }
  log::info("{} works again: its circuit is closed", name_);
}

void CircuitBreaker::failed(const Error& why, Pass pass) {
  {
    const std::scoped_lock lock(mutex_);
    end_probe(pass);
    failure_ = why;
    failed_at_ = clock_.now();
    const bool was_closed = failures_ < limit_;
    if (was_closed) ++failures_;
    if (failures_ < limit_) return;
    open_until_ = failed_at_ + std::max<std::chrono::milliseconds>(open_for_, why.retry_after());
    if (!was_closed) return;
  }
  log::warning("{} failed {} times in a row: its circuit is open, and it is not asked for now: {}", name_, limit_,
               log::printable(why.message(), 300));
}

void CircuitBreaker::abandoned(Pass pass) {
  if (pass == kUsual) return;
  const std::scoped_lock lock(mutex_);
  end_probe(pass);
}

CircuitBreaker::Status CircuitBreaker::status() const {
  const std::scoped_lock lock(mutex_);
  const auto wait = failure_ ? failure_->retry_after() : std::chrono::seconds(0);
  return {state_now(), failure_, failed_at_, failed_at_ + wait};
}

CircuitBreaker::State CircuitBreaker::state() const {
  const std::scoped_lock lock(mutex_);
  return state_now();
}

CircuitBreaker::State CircuitBreaker::state_now() const {
  if (failures_ < limit_) return State::closed;
  return probe_ != kUsual || clock_.now() >= open_until_ ? State::half_open : State::open;
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
