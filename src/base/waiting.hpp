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

#include "base/task.hpp"

// Waiting for something, and not for ever. Everything here belongs to one executor.
namespace proteus {

// Wakes the coroutines that wait for a state to change; they look at it again.
class Bell {
 public:
  explicit Bell(const Executor& executor) : timer_(executor, boost::asio::steady_timer::time_point::max()) {}
  void ring() { timer_.cancel(); }
  // Ends when rung; a cancelled coroutine ends by an exception, as with Asio's own operations.
  Task<> wait();
  // Ends when rung or cancelled; the caller finds out which.
  Task<> wait_quietly();

 private:
  boost::asio::steady_timer timer_;
};

// Sleeps; ends early only by cancellation, by an exception.
Task<> sleep_for(std::chrono::steady_clock::duration duration);

// When a wait must end. Progress moves it, up to a maximum, and it stands still while it is held: while the
// server waits for an answer of ours, the time is not the server's.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  Deadline(const Executor& executor, Clock::duration timeout, Clock::duration maximum);
  static Deadline never(const Executor& executor);

  void extend();
  void hold();
  void release();
  // Passes now, held or not.
  void expire();
  // Does not pass any more, unless it expires.
  void lift();
  bool expired() const { return expired_; }
  // How long until it passes; nothing where it has, or while it is held.
  std::optional<Clock::duration> left() const;

  // Called when any of these has changed something; empty for nothing to call.
  void set_on_change(std::function<void()> on_change) { on_change_ = std::move(on_change); }

  // Ends when the deadline has passed or `end` was called; says whether it passed.
  Task<bool> wait();
  void end();

 private:
  Deadline(const Executor& executor, Clock::duration timeout, Clock::duration maximum, Clock::time_point now);

  void changed();

  Executor executor_;
  std::optional<boost::asio::steady_timer> timer_;  // once somebody waits
  std::function<void()> on_change_;
  Clock::duration timeout_;
  Clock::time_point due_;
  Clock::time_point latest_;
  Clock::time_point held_since_;
  int holds_ = 0;
  bool ended_ = false;
  bool expired_ = false;
};

// Says, for as long as it lives, which deadline ends a wait, so that another can make it expire.
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

// Runs a task aside. Shared, so that nothing dangles however the one who waits for it ends.
struct Aside {
  boost::asio::cancellation_signal stop;
  std::function<void()> on_end;
  std::exception_ptr failure;
  bool ended = false;
};

void run_aside(const Executor& executor, std::shared_ptr<Aside> aside, Task<> task);
// Waits until the task has ended, or the deadline has passed; then stops the task and waits for its end. True
// where it ended by itself. Throws where the awaiting coroutine was cancelled.
Task<bool> wait_for_call(std::shared_ptr<Aside> aside, Deadline& deadline);

template <class T>
Task<> store(Task<T> task, std::shared_ptr<std::optional<T>> into) {
  into->emplace(co_await std::move(task));
}

}  // namespace detail

// What the task returns, or an error of kind `timeout` (`cancelled` where the deadline was made to expire)
// that names `what`. The task is cancelled when the deadline passes or the awaiting coroutine is cancelled,
// and has ended when this ends: it may refer to what its caller owns. An exception of the task is passed on.
template <class T>
Task<Result<T>> before(Deadline& deadline, Task<Result<T>> task, std::string_view what) {
  const Executor executor = co_await boost::asio::this_coro::executor;
  auto result = std::make_shared<std::optional<Result<T>>>();
  auto aside = std::make_shared<detail::Aside>();
  detail::run_aside(executor, aside, detail::store(std::move(task), result));
  const bool in_time = co_await detail::wait_for_call(aside, deadline);
  // A task that was stopped may say so by an error of its own.
  if (result->has_value() && (in_time || (*result)->has_value())) co_return std::move(**result);
  if (!in_time) co_return std::unexpected(deadline.expired() ? errors::cancelled(what) : errors::timeout(what));
  if (aside->failure) std::rethrow_exception(aside->failure);
  co_return std::unexpected(errors::cancelled(what));
}

}  // namespace proteus
