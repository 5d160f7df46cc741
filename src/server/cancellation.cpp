#include "server/cancellation.hpp"

#include <utility>

#include <boost/asio/post.hpp>

namespace proteus::server {

void Cancellation::on_request(std::function<void()> callback) {
  if (requested_) return callback();
  callbacks_.push_back(std::move(callback));
}

void Cancellation::fire() {
  if (std::exchange(requested_, true)) return;
  for (auto& callback : std::exchange(callbacks_, {}))
    callback();
}

void Cancellation::request() {
  boost::asio::post(executor_, [self = shared_from_this()] { self->fire(); });
}

}  // namespace proteus::server
