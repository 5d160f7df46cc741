#include "server/core/outbox.hpp"

#include <algorithm>
#include <iterator>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proteus::server {

namespace asio = boost::asio;

namespace {

// What may wait for a client.
constexpr std::size_t kMostMessages = 10'000;
constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

}  // namespace

Outbox::Outbox(const Executor& executor) : executor_(executor), timer_(executor) {}

bool Outbox::push(std::string message) {
  const std::scoped_lock lock(mutex_);
  return push_locked(std::move(message));
}

bool Outbox::push_once(std::string message) {
  const std::scoped_lock lock(mutex_);
  if (once_.contains(message)) return true;
  if (!push_locked(std::move(message))) return false;
  once_.insert(waiting_.back());
  return true;
}

bool Outbox::push_locked(std::string message) {
  if (closed_) return false;
  if (waiting_.size() >= kMostMessages || waiting_bytes_ > kMostBytes) {
    closed_ = true;
    wake();
    return false;
  }
  waiting_bytes_ += message.size();
  waiting_.push_back(std::move(message));
  wake();
  return true;
}

void Outbox::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  wake();
}

bool Outbox::closed() {
  const std::scoped_lock lock(mutex_);
  return closed_;
}

// Must be called with the mutex held. The timer belongs to the executor's thread, so the cancellation is posted there.
void Outbox::wake() {
  if (!sleeping_) return;
  sleeping_ = false;
  asio::post(executor_, [self = shared_from_this()] { self->timer_.cancel(); });
}

Task<Outbox::Event> Outbox::wait(std::chrono::milliseconds idle) {
  const auto self = shared_from_this();
  {
    const std::scoped_lock lock(mutex_);
    if (!waiting_.empty()) co_return Event::messages;
    if (closed_) co_return Event::closed;
    sleeping_ = true;
    timer_.expires_after(idle);
  }
  boost::system::error_code status;
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, status));
  const std::scoped_lock lock(mutex_);
  sleeping_ = false;
  if (!waiting_.empty()) co_return Event::messages;
  co_return closed_ ? Event::closed : Event::idle;
}

std::vector<std::string> Outbox::take() {
  const std::scoped_lock lock(mutex_);
  once_.clear();
  std::vector<std::string> taken(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  waiting_bytes_ = 0;
  return taken;
}

}  // namespace proteus::server
