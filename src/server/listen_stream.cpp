#include "server/listen_stream.hpp"

#include <algorithm>

#include "server/modern_answer.hpp"

namespace proteus::server {

ListenStream::ListenStream(Caller caller, mcp::SubscriptionFilter filter, std::string id, mcp::ResultStyle style,
                           std::function<void(std::string)> send, std::function<void()> close)
    : caller_(std::move(caller)),
      filter_(std::move(filter)),
      id_(std::move(id)),
      style_(style),
      send_(std::move(send)),
      close_(std::move(close)) {}

Listeners::Registration ListenStream::start(Listeners& listeners) {
  send_(mcp::acknowledged_notification(filter_, id_));
  follows_ = &listeners;
  for (const auto& uri : filter_.uris)
    listeners.follow(uri);
  return listeners.add(*this);
}

ListenStream::~ListenStream() {
  if (follows_ == nullptr) return;
  for (const auto& uri : filter_.uris)
    follows_->unfollow(uri);
}

void ListenStream::list_changed(mcp::Method changed) {
  if (filter_.wants_list(changed)) send_(mcp::list_changed_notification(changed, id_));
}

void ListenStream::resource_updated(std::string_view uri) {
  if (std::ranges::find(filter_.uris, uri) != filter_.uris.end()) send_(mcp::resource_updated_notification(uri, id_));
}

void ListenStream::end() {
  send_(mcp::cancelled_notification(id_, "the server ends this subscription", id_));
  send_(listen_result(id_, style_));
  close_();
}

}  // namespace proteus::server
