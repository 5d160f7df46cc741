#include "server/core/listen_stream.hpp"

#include <utility>

#include "server/core/modern_answer.hpp"

namespace proteus::server {

ListenStream::ListenStream(Caller caller, mcp::SubscriptionFilter filter, std::string id, mcp::ResultStyle style,
                           std::function<void(std::string)> send, std::function<void()> close)
    : caller_(std::make_shared<const Caller>(std::move(caller))),
      id_(std::move(id)),
      style_(style),
      send_(std::move(send)),
      close_(std::move(close)),
      filter_(std::move(filter)),
      told_of_(filter_.uris.begin(), filter_.uris.end()) {}

Listeners::Registration ListenStream::start(Listeners& listeners) {
  follows_ = &listeners;
  followed_ = filter_.uris;
  for (const auto& uri : followed_)
    listeners.follow(uri);
  auto registration = listeners.add(*this);
  if (!caller_->holds()) end();
  return registration;
}

ListenStream::~ListenStream() {
  if (follows_ == nullptr) return;
  for (const auto& uri : followed_)
    follows_->unfollow(uri);
}

std::optional<mcp::SubscriptionFilter> ListenStream::stream_filter() const {
  const std::scoped_lock lock(mutex_);
  return filter_;
}

void ListenStream::acknowledge(const std::vector<std::string>& without) {
  const std::scoped_lock lock(mutex_);
  for (const auto& uri : without)
    told_of_.erase(uri);
  std::erase_if(filter_.uris, [&](const auto& uri) { return !told_of_.contains(uri); });
  acknowledge_locked();
}

void ListenStream::acknowledge_locked() {
  if (std::exchange(acknowledged_, true)) return;
  send_(mcp::acknowledged_notification(filter_, id_));
  held_once_.clear();
  for (auto& message : std::exchange(held_, {}))
    send_(std::move(message));
}

void ListenStream::tell(std::string message) {
  if (ended_) return;
  if (acknowledged_) return send_(std::move(message));
  if (held_once_.contains(message)) return;
  held_.push_back(std::move(message));
  held_once_.insert(held_.back());
}

void ListenStream::list_changed(mcp::Method changed) {
  const std::scoped_lock lock(mutex_);
  if (filter_.wants_list(changed)) tell(mcp::list_changed_notification(changed, id_));
}

void ListenStream::resource_updated(std::string_view uri) {
  const std::scoped_lock lock(mutex_);
  if (told_of_.contains(uri)) tell(mcp::resource_updated_notification(uri, id_));
}

void ListenStream::end() {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(ended_, true)) return;
  acknowledge_locked();
  send_(mcp::cancelled_notification(id_, "the server ends this subscription", id_));
  send_(listen_result(id_, style_));
  close_();
}

}  // namespace proteus::server
