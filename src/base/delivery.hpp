#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "base/task.hpp"

namespace proteus {

// Wakes one coroutine from another thread. It may ring before anybody waits, after the one who waited was cancelled,
// and after the context of that one is gone.
class DeliveryBell : public std::enable_shared_from_this<DeliveryBell> {
 public:
  // Any thread, once.
  void ring();

  // Completes, on the awaiting coroutine's executor, once it has rung. That executor runs one handler at a time, and at
  // most one coroutine waits. Throws `operation_aborted` where the coroutine is cancelled first. False where it has not
  // rung by `until`.
  using Time = boost::asio::steady_timer::time_point;
  static Task<bool> wait(std::shared_ptr<DeliveryBell> bell, Time until = Time::max());

 private:
  class Waiting;
  bool has_rung();
  void wake();

  std::mutex mutex_;
  bool rung_ = false;
  boost::asio::steady_timer* waiting_ = nullptr;  // of the coroutine that waits
};

// A value that another thread finds out for a coroutine. Whoever works for it holds a pointer to this and no reference
// to the coroutine, so that the coroutine may end at any time; what is delivered then is dropped.
template <class T>
class Delivery {
 public:
  // Any thread, once.
  void deliver(T value) {
    value_.emplace(std::move(value));
    bell_->ring();
  }

  // As `DeliveryBell::wait`; called once.
  static Task<T> receive(std::shared_ptr<Delivery> delivery) {
    co_await DeliveryBell::wait(delivery->bell_);
    co_return std::move(*delivery->value_);
  }
  // Nothing where it has not come by then; what comes later is dropped.
  static Task<std::optional<T>> receive_until(std::shared_ptr<Delivery> delivery, DeliveryBell::Time until) {
    if (!co_await DeliveryBell::wait(delivery->bell_, until)) co_return std::nullopt;
    co_return std::move(delivery->value_);
  }

 private:
  std::optional<T> value_;  // written before the bell rings, read after
  std::shared_ptr<DeliveryBell> bell_ = std::make_shared<DeliveryBell>();
};

}  // namespace proteus
