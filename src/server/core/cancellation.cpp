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

void Cancellation::fire() {
  if (std::exchange(requested_, true)) return;
  // What is called may take out others, and itself.
  while (!hooks_.empty()) {
    const auto callback = std::move(hooks_.front()->callback_);
    hooks_.erase(hooks_.begin());
    callback();
  }
}

void Cancellation::request() {
  boost::asio::post(executor_, [self = shared_from_this()] { self->fire(); });
}

}  // namespace proteus::server
