#include "client/message/start_places.hpp"

#include <atomic>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/tasks/waiting.hpp"

namespace proteus::client {

namespace asio = boost::asio;

struct StartPlaces::Waiter {
  explicit Waiter(const Executor& where) : executor(where), bell(where) {}

  Executor executor;
  Bell bell;  // used only on the executor's thread
  std::atomic<bool> let_in = false;
};

Task<StartPlaces::Place> StartPlaces::enter() {
  const Executor executor = co_await asio::this_coro::executor;
  const auto waiter = std::make_shared<Waiter>(executor);
  const auto self = shared_from_this();
  {
    const std::scoped_lock lock(mutex_);
    if (free_ > 0) {
      --free_;
      co_return Place(self);
    }
    queue_.push_back(waiter);
  }
  try {
    while (!waiter->let_in)
      co_await waiter->bell.wait();
  } catch (...) {
    std::unique_lock lock(mutex_);
    const bool left = std::erase(queue_, waiter) > 0;
    lock.unlock();
    if (!left) give_back();
    throw;
  }
  co_return Place(self);
}

void StartPlaces::give_back() {
  const std::scoped_lock lock(mutex_);
  if (queue_.empty()) {
    ++free_;
    return;
  }
  const auto next = std::move(queue_.front());
  queue_.pop_front();
  next->let_in = true;
  asio::post(next->executor, [next] { next->bell.ring(); });
}

std::size_t StartPlaces::waiting() const {
  const std::scoped_lock lock(mutex_);
  return queue_.size();
}

}  // namespace proteus::client
