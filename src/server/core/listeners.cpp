#include "server/core/listeners.hpp"

#include <set>
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
  if (listeners_ != nullptr) std::exchange(listeners_, nullptr)->remove(listener_);
}

void Listeners::remove(Listener* listener) {
  const std::scoped_lock lock(mutex_);
  listeners_.erase(listener);
  const auto caller = listener->caller();
  if (const auto own = by_principal_.find(caller->principal); own != by_principal_.end()) {
    own->second.erase(listener);
    if (own->second.empty()) by_principal_.erase(own);
  }
  const auto found = streams_.find(caller->principal);
  if (found == streams_.end() || std::erase(found->second, listener) == 0) return;
  if (found->second.empty()) streams_.erase(found);
  if (on_streams_) on_streams_(caller->principal);
}

Listeners::Registration Listeners::add(Listener& listener) {
  const std::scoped_lock lock(mutex_);
  listener.joined_ = std::chrono::steady_clock::now();
  listeners_.insert(&listener);
  const std::string principal = listener.caller()->principal;
  by_principal_[principal].insert(&listener);
  if (listener.stream_filter()) {
    streams_[principal].push_back(&listener);
    if (on_streams_) on_streams_(principal);
  }
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
    if (concerns(*listener->caller(), listener->joined_)) listener->list_changed(changed);
  }
}

void Listeners::list_changed_for(const std::string& principal, mcp::Method changed) {
  const std::scoped_lock lock(mutex_);
  const auto own = by_principal_.find(principal);
  if (own == by_principal_.end()) return;
  for (auto* listener : own->second)
    listener->list_changed(changed);
}

void Listeners::resource_updated(std::string_view uri) { resource_updated(uri, everyone); }

void Listeners::resource_updated(std::string_view uri, const Concerns& concerns) {
  const std::scoped_lock lock(mutex_);
  for (auto* listener : listeners_) {
    if (concerns(*listener->caller())) listener->resource_updated(uri);
  }
}

void Listeners::end_all() { end(everyone); }

void Listeners::end(const Concerns& concerns) {
  const std::scoped_lock lock(mutex_);
  for (auto* listener : listeners_) {
    if (concerns(*listener->caller())) listener->end();
  }
}

void Listeners::end_expired(Clock::Wall now) {
  const std::scoped_lock lock(mutex_);
  for (auto* listener : listeners_) {
    if (listener->until() <= now) listener->end();
  }
}

void Listeners::end_of(const std::string& principal, const Concerns& concerns) {
  const std::scoped_lock lock(mutex_);
  const auto own = by_principal_.find(principal);
  if (own == by_principal_.end()) return;
  for (auto* listener : own->second) {
    if (concerns(*listener->caller())) listener->end();
  }
}

void Listeners::visit(Listener* listener, const Visit& visit) {
  const std::scoped_lock lock(mutex_);
  if (listeners_.contains(listener)) visit(*listener);
}

void Listeners::visit_streams(const std::string& principal, const Visit& visit) {
  const std::scoped_lock lock(mutex_);
  const auto found = streams_.find(principal);
  if (found == streams_.end()) return;
  for (auto* stream : found->second)
    visit(*stream);
}

std::optional<mcp::SubscriptionFilter> Listeners::wanted_by_streams(const std::string& principal) {
  const std::scoped_lock lock(mutex_);
  const auto found = streams_.find(principal);
  if (found == streams_.end()) return std::nullopt;
  mcp::SubscriptionFilter wanted;
  std::set<std::string> uris;
  for (const auto* stream : found->second) {
    const auto filter = stream->stream_filter();
    if (!filter) continue;
    wanted.tools = wanted.tools || filter->tools;
    wanted.prompts = wanted.prompts || filter->prompts;
    wanted.resources = wanted.resources || filter->resources;
    uris.insert(filter->uris.begin(), filter->uris.end());
  }
  wanted.uris.assign(uris.begin(), uris.end());
  return wanted;
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
