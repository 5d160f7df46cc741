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
  listener.joined_ = std::chrono::steady_clock::now();
  listeners_.insert(&listener);
  return {*this, listener};
}

std::size_t Listeners::size() const {
  const std::scoped_lock lock(mutex_);
  return listeners_.size();
}

namespace {

bool everyone(const Caller&) { return true; }

}  // namespace

void Listeners::list_changed(mcp::Method changed) { list_changed(changed, Concerns(everyone)); }

void Listeners::list_changed(mcp::Method changed, const Concerns& concerns) {
  list_changed(changed, ConcernsSince([&](const Caller& caller, auto) { return concerns(caller); }));
}

void Listeners::list_changed(mcp::Method changed, const ConcernsSince& concerns) {
  const std::scoped_lock lock(mutex_);
  for (auto* listener : listeners_) {
    if (concerns(listener->caller(), listener->joined_)) listener->list_changed(changed);
  }
}

void Listeners::resource_updated(std::string_view uri) { resource_updated(uri, everyone); }

void Listeners::resource_updated(std::string_view uri, const Concerns& concerns) {
  const std::scoped_lock lock(mutex_);
  for (auto* listener : listeners_) {
    if (concerns(listener->caller())) listener->resource_updated(uri);
  }
}

void Listeners::end_all() { end(everyone); }

void Listeners::end(const Concerns& concerns) {
  const std::scoped_lock lock(mutex_);
  for (auto* listener : listeners_) {
    if (concerns(listener->caller())) listener->end();
  }
}

void Listeners::follow(std::string_view uri) {
  const std::scoped_lock lock(follow_mutex_);
  const auto [at, first] = followed_.try_emplace(std::string(uri), 0);
  ++at->second;
  if (first && on_follow_) on_follow_(at->first, true);
}

void Listeners::unfollow(std::string_view uri) {
  const std::scoped_lock lock(follow_mutex_);
  const auto found = followed_.find(uri);
  if (found == followed_.end() || --found->second > 0) return;
  if (on_follow_) on_follow_(found->first, false);
  followed_.erase(found);
}

}  // namespace proteus::server
