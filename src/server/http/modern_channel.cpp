#include "server/http/modern_channel.hpp"

#include <boost/asio/post.hpp>

#include "base/memory/recycled.hpp"
#include "server/http/http_answer.hpp"

namespace proteus::server {
namespace {

// More is not held back for the answer: the stream begins, and the limits of its outbox apply.
constexpr std::size_t kHeldBack = std::size_t{64} << 10U;

Task<> pump(net::Exchange& exchange, std::shared_ptr<Outbox> outbox, std::chrono::milliseconds keep_alive) {
  co_await stream_events(exchange, std::move(outbox), keep_alive);
}

}  // namespace

void ModernChannel::send(std::string message) {
  send_with_answer(std::move(message));
  if (outbox_ || starting_) return;
  starting_ = std::make_shared<ModernChannel*>(this);
  boost::asio::post(exchange_.executor(), [starting = starting_] {
    if (*starting != nullptr) (*starting)->start();
  });
}

void ModernChannel::send_with_answer(std::string message) {
  if (outbox_) {
    outbox_->push(sse_frame(std::move(message)));
    return;
  }
  append_sse_frame(frames_, std::move(message));
  if (frames_.size() > kHeldBack) start();
}

Cancellation& ModernChannel::cancellation() {
  if (!cancellation_) {
    cancellation_ = make_recycled<Cancellation>(exchange_.executor());
    exchange_.on_disconnect([cancellation = cancellation_] { cancellation->fire(); });
  }
  return *cancellation_;
}

void ModernChannel::start() {
  call_off();
  outbox_ = std::make_shared<Outbox>(exchange_.executor());
  outbox_->push(std::exchange(frames_, {}));
  group_.emplace(exchange_.executor());
  group_->spawn("answer stream", pump(exchange_, outbox_, keep_alive_));
}

Task<> ModernChannel::close() {
  outbox_->close();
  co_await group_->join();
}

Task<> ModernChannel::finish(std::string message) {
  outbox_->push(sse_frame(std::move(message)));
  return close();
}

}  // namespace proteus::server
