#include "server/core/cancellation.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace proteus::server {

Cancellation::Hook::Hook(Cancellation& cancellation, std::function<void()> callback)
    : cancellation_(cancellation), callback_(std::move(callback)) {
  if (cancellation_.requested_) {
    callback_();
  } else {
    cancellation_.hooks_.push_back(this);
  }
}

Cancellation::Hook::~Hook() {
  auto& hooks = cancellation_.hooks_;
  hooks.erase(std::ranges::remove(hooks, this).begin(), hooks.end());
}

void Cancellation::fire(std::string reason) {
  if (std::exchange(requested_, true)) return;
  reason_ = std::move(reason);
  // A callback may unregister other hooks, and its own.
  while (!hooks_.empty()) {
    const auto callback = std::move(hooks_.front()->callback_);
    hooks_.erase(hooks_.begin());
    callback();
  }
}

void Cancellation::request(std::string reason) {
  boost::asio::post(
      executor_, [self = shared_from_this(), reason = std::move(reason)]() mutable { self->fire(std::move(reason)); });
}

Error given_up(const Cancellation& cancellation) {
  return errors::cancelled("the request").within(cancellation.reason());
}

}  // namespace proteus::server
