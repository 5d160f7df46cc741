#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "base/tasks/task.hpp"

namespace proteus {

// Wakes one coroutine from another thread. It may ring before the coroutine waits, after the coroutine was cancelled,
// and after the coroutine's execution context was destroyed.
class DeliveryBell : public std::enable_shared_from_this<DeliveryBell> {
 public:
  // Thread-safe. Must be called at most once.
  void ring();

  // Waits for `ring`; resumes on the awaiting coroutine's executor. Returns false if the bell has not rung by `until`.
  // Throws `operation_aborted` if the coroutine is cancelled first. The executor must run one handler at a time, and
  // only one coroutine may wait.
  using Time = boost::asio::steady_timer::time_point;
  static Task<bool> wait(std::shared_ptr<DeliveryBell> bell, Time until = Time::max());

 private:
  class Waiting;
  bool has_rung();
  void wake();

  std::mutex mutex_;
  bool rung_ = false;
  boost::asio::steady_timer* waiting_ = nullptr;  // timer of the waiting coroutine
};

// A value that another thread produces for a coroutine. The producer holds a pointer to the Delivery and no reference
// to the coroutine, so the coroutine may end at any time; a value that is delivered afterwards is dropped.
template <class T>
class Delivery {
 public:
  // Thread-safe. Must be called at most once.
  void deliver(T value) {
    value_.emplace(std::move(value));
    bell_->ring();
  }

  // Waits for the value like `DeliveryBell::wait`. Must be called only once.
  static Task<T> receive(std::shared_ptr<Delivery> delivery) {
    co_await DeliveryBell::wait(delivery->bell_);
    co_return std::move(*delivery->value_);
  }
  // Returns nothing if the value has not arrived by `until`. May be called again after that.
  static Task<std::optional<T>> receive_until(std::shared_ptr<Delivery> delivery, DeliveryBell::Time until) {
    if (!co_await DeliveryBell::wait(delivery->bell_, until)) co_return std::nullopt;
    co_return std::move(delivery->value_);
  }

 private:
  std::optional<T> value_;  // written before the bell rings, read afterwards
  std::shared_ptr<DeliveryBell> bell_ = std::make_shared<DeliveryBell>();
};

}  // namespace proteus
