#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <proteus/error.hpp>

#include "base/tasks/task.hpp"

// Waiting for something, but not forever. Everything here belongs to one executor.
namespace proteus {

// Wakes the coroutines that wait for a state to change; they check the state again. A ring that nobody waits for is
// lost.
class Bell {
 public:
  explicit Bell(const Executor& executor) : timer_(executor, boost::asio::steady_timer::time_point::max()) {}
  void ring() { timer_.cancel(); }
  // Returns when rung. Throws if the coroutine is cancelled, like Asio's own operations.
  Task<> wait();
  // Returns when rung or cancelled; the caller finds out which.
  Task<> wait_quietly();

 private:
  boost::asio::steady_timer timer_;
};

// Sleeps. Throws if the coroutine is cancelled.
Task<> sleep_for(std::chrono::steady_clock::duration duration);

// The time when a wait must end. Progress extends it, up to a maximum. It stands still while it is held: while the
// server waits for an answer from us, the time does not count against the server.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  Deadline(const Executor& executor, Clock::duration timeout, Clock::duration maximum);
  static Deadline never(const Executor& executor);

  void extend();
  void hold();
  void release();
  // Passes now, even while it is held.
  void expire();
  // Removes the time limit; only `expire` makes it pass now.
  void lift();
  bool expired() const { return expired_; }
  // Returns the time left; nothing if the deadline has passed or is held.
  std::optional<Clock::duration> left() const;

  // Sets the callback for changes of the deadline by any function here; empty for none.
  void set_on_change(std::function<void()> on_change) { on_change_ = std::move(on_change); }

  // Waits until the deadline has passed or `end` is called. Returns whether the deadline has passed.
  Task<bool> wait();
  void end();

 private:
  Deadline(const Executor& executor, Clock::duration timeout, Clock::duration maximum, Clock::time_point now);

  void changed();

  Executor executor_;
  std::optional<boost::asio::steady_timer> timer_;  // made by the first `wait`
  std::function<void()> on_change_;
  Clock::duration timeout_;
  Clock::time_point due_;
  Clock::time_point latest_;
  Clock::time_point held_since_;
  int holds_ = 0;
  bool ended_ = false;
  bool expired_ = false;
};

// Points `where` at the deadline of the current wait while it lives, so that others can make the deadline expire.
class Noted {
 public:
  Noted(Deadline*& where, Deadline& deadline) : where_(where) { where_ = &deadline; }
  ~Noted() { where_ = nullptr; }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

 private:
  Deadline*& where_;
};

namespace detail {

// State of a task that runs in a separate coroutine. Shared, so that nothing dangles however the waiter ends.
struct Aside {
  boost::asio::cancellation_signal stop;
  std::function<void()> on_end;
  std::exception_ptr failure;
  bool ended = false;
};

void run_aside(const Executor& executor, std::shared_ptr<Aside> aside, Task<> task);
// Waits until the task has ended. If the deadline passes or the awaiting coroutine is cancelled, stops the task first.
// Returns whether the task ended in time. Throws if the coroutine was cancelled.
Task<bool> wait_for_task(std::shared_ptr<Aside> aside, Deadline& deadline);

template <class T>
Task<> store(Task<T> task, std::shared_ptr<std::optional<T>> into) {
  into->emplace(co_await std::move(task));
}

}  // namespace detail

// Returns what the task returns, or an error of kind `timeout` that names `what` (`cancelled` if the deadline was made
// to expire). Cancels the task if the deadline passes or the awaiting coroutine is cancelled. The task has ended when
// this function ends, so it may refer to what the caller owns. Throws what the task throws. A deadline may limit
// several tasks, one after the other.
template <class T>
Task<Result<T>> before(Deadline& deadline, Task<Result<T>> task, std::string_view what) {
  const Executor executor = co_await boost::asio::this_coro::executor;
  auto result = std::make_shared<std::optional<Result<T>>>();
  auto aside = std::make_shared<detail::Aside>();
  detail::run_aside(executor, aside, detail::store(std::move(task), result));
  const bool in_time = co_await detail::wait_for_task(aside, deadline);
  // A task that was stopped may report that by an error of its own, which the timeout replaces.
  if (result->has_value() && (in_time || (*result)->has_value())) co_return std::move(**result);
  if (!in_time) co_return std::unexpected(deadline.expired() ? errors::cancelled(what) : errors::timeout(what));
  if (aside->failure) std::rethrow_exception(aside->failure);
  co_return std::unexpected(errors::cancelled(what));
}

}  // namespace proteus
