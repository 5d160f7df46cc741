#include "base/tasks/waiting.hpp"

#include <algorithm>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/clock.hpp"

namespace proteus {

namespace asio = boost::asio;

namespace {

void throw_if_cancelled(const asio::cancellation_state& state) {
  if (state.cancelled() == asio::cancellation_type::none) return;
  throw boost::system::system_error(asio::error::operation_aborted);
}

// Each request sets a deadline, so this uses the cheap clock. It adds the clock's resolution so that no deadline passes
// early.
Deadline::Clock::time_point latest_now() {
  constexpr std::chrono::milliseconds kTick(10);
  return SystemClock::recently() + kTick;
}

}  // namespace

Task<> Bell::wait_quietly() {
  boost::system::error_code ignored;
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

Task<> Bell::wait() {
  co_await wait_quietly();
  throw_if_cancelled(co_await asio::this_coro::cancellation_state);
}

Task<> sleep_for(std::chrono::steady_clock::duration duration) {
  asio::steady_timer timer(co_await asio::this_coro::executor, duration);
  co_await timer.async_wait(asio::use_awaitable);
}

Deadline::Deadline(const Executor& executor, Clock::duration timeout, Clock::duration maximum)
    : Deadline(executor, timeout, maximum, latest_now()) {}

Deadline::Deadline(const Executor& executor, Clock::duration timeout, Clock::duration maximum, Clock::time_point now)
    : executor_(executor), timeout_(timeout), due_(now + timeout), latest_(now + std::max(timeout, maximum)) {}

Deadline Deadline::never(const Executor& executor) {
  Deadline deadline(executor, Clock::duration::zero(), Clock::duration::zero());
  deadline.due_ = deadline.latest_ = Clock::time_point::max();
  return deadline;
}

void Deadline::extend() {
  if (latest_ == Clock::time_point::max()) return;
  due_ = std::min(latest_now() + timeout_, latest_);
  changed();
}

void Deadline::hold() {
  if (holds_++ > 0) return;
  held_since_ = Clock::now();
  changed();
}

void Deadline::release() {
  if (--holds_ > 0 || latest_ == Clock::time_point::max()) return;
  const auto held = Clock::now() - held_since_;
  due_ += held;
  latest_ += held;
  changed();
}

void Deadline::expire() {
  expired_ = true;
  changed();
}

void Deadline::lift() {
  due_ = latest_ = Clock::time_point::max();
  changed();
}

void Deadline::end() {
  ended_ = true;
  changed();
}

std::optional<Deadline::Clock::duration> Deadline::left() const {
  const auto now = SystemClock::recently();
  if (expired_ || holds_ > 0 || now >= due_) return std::nullopt;
  return due_ - now;
}

void Deadline::changed() {
  if (timer_) timer_->cancel();
  if (on_change_) on_change_();
}

Task<bool> Deadline::wait() {
  ended_ = false;
  if (!timer_) timer_.emplace(executor_);
  while (!ended_) {
    if (expired_ || (holds_ == 0 && Clock::now() >= due_)) co_return true;
    timer_->expires_at(holds_ > 0 ? Clock::time_point::max() : due_);
    boost::system::error_code ignored;
    co_await timer_->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    throw_if_cancelled(co_await asio::this_coro::cancellation_state);
  }
  co_return false;
}

namespace detail {

void run_aside(const Executor& executor, std::shared_ptr<Aside> aside, Task<> task) {
  const auto slot = aside->stop.slot();
  asio::co_spawn(executor, std::move(task), asio::bind_cancellation_slot(slot, [aside](std::exception_ptr failure) {
                   aside->failure = failure;
                   aside->ended = true;
                   if (aside->on_end) aside->on_end();
                 }));
}

Task<bool> wait_for_task(std::shared_ptr<Aside> aside, Deadline& deadline) {
  aside->on_end = [&deadline] { deadline.end(); };
  bool passed = false;
  try {
    if (!aside->ended) passed = co_await deadline.wait();
  } catch (const boost::system::system_error&) {
    // Cancelled; checked below.
  }
  if (!aside->ended) {
    // From here on only the end of the task may end the wait, because the task refers to what the caller owns.
    co_await asio::this_coro::throw_if_cancelled(false);
    asio::steady_timer ended(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    aside->on_end = [&ended] { ended.cancel(); };
    aside->stop.emit(asio::cancellation_type::terminal);
    boost::system::error_code ignored;
    while (!aside->ended)
      co_await ended.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    co_await asio::this_coro::throw_if_cancelled(true);
  }
  aside->on_end = nullptr;
  throw_if_cancelled(co_await asio::this_coro::cancellation_state);
  co_return !passed;
}

}  // namespace detail

}  // namespace proteus
