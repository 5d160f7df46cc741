#include "server/listeners.hpp"

#include <utility>

namespace proteus::server {

Listeners::Registration::Registration(Registration&& other) noexcept
    : listeners_(std::exchange(other.listeners_, nullptr)), listener_(std::exchange(other.listener_, nullptr)) {}

Listeners::Registration& Listeners::Registration::operator=(Registration&& other) noexcept {
  if (this != &other) {
    reset();
    listeners_ = std::exchange(other.listeners_, nullptr);
    listener_ = std::exchange(other.listener_, nullptr);
  }
  return *this;
}

void Listeners::Registration::reset() {
  if (listeners_ == nullptr) return;
  const std::scoped_lock lock(listeners_->mutex_);
  listeners_->listeners_.erase(listener_);
  listeners_ = nullptr;
}

Listeners::Registration Listeners::add(Listener& listener) {
  const std::scoped_lock lock(mutex_);
  listeners_.insert(&listener);
  return {*this, listener};
}

std::size_t Listeners::size() const {
  const std::scoped_lock lock(mutex_);
  return listeners_.size();
}

void Listeners::list_changed(mcp::Method changed) {
  const std::scoped_lock lock(mutex_);
  for (auto* listener : listeners_)
    listener->list_changed(changed);
}

void Listeners::resource_updated(std::string_view uri) {
  const std::scoped_lock lock(mutex_);
  for (auto* listener : listeners_)
    listener->resource_updated(uri);
}

void Listeners::end_all() {
  const std::scoped_lock lock(mutex_);
  for (auto* listener : listeners_)
    listener->end();
}

}  // namespace proteus::server
