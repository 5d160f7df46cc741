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
  listener.number_ = ++last_number_;
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
  struct Asked {
    Listener* listener;
    std::uint64_t number;
    std::shared_ptr<const Caller> caller;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<Asked> concerned;
  {
    const std::scoped_lock lock(mutex_);
    concerned.reserve(listeners_.size());
    for (auto* listener : listeners_)
      concerned.push_back({listener, listener->number_, listener->caller(), listener->joined_});
  }
  std::erase_if(concerned, [&](const Asked& asked) { return !concerns(*asked.caller, asked.since); });
  const std::scoped_lock lock(mutex_);
  for (const auto& asked : concerned) {
    const bool is_there = listeners_.contains(asked.listener) && asked.listener->number_ == asked.number;
    if (is_there) asked.listener->list_changed(changed);
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

std::vector<Listeners::Stream> Listeners::streams() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Stream> all;
  for (const auto& [principal, streams] : streams_) {
    for (const auto* stream : streams)
      all.push_back({stream->number_, stream->caller(), stream->joined_,
                     stream->stream_filter().value_or(mcp::SubscriptionFilter{})});
  }
  return all;
}

std::shared_ptr<const Caller> Listeners::end_stream(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [principal, streams] : streams_) {
    for (auto* stream : streams) {
      if (stream->number_ != number) continue;
      auto caller = stream->caller();
      stream->end();
      return caller;
    }
  }
  return nullptr;
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
