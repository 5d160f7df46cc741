#include "base/tasks/waiting.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"

namespace proteus {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// Ends only when it is cancelled, and records that.
Task<Result<int>> hang(bool& stopped) {
  Bell bell(co_await asio::this_coro::executor);
  try {
    co_await bell.wait();
  } catch (...) {
    stopped = true;
    throw;
  }
  co_return 1;
}

Task<Result<int>> answer(int value) { co_return value; }

Task<Result<int>> answer_later(int value) {
  co_await sleep_for(0ms);
  co_return value;
}

Task<Result<int>> hang_before(Deadline& deadline, bool& stopped) {
  co_return co_await before(deadline, hang(stopped), "the call");
}

TEST(Before, GivesWhatTheTaskReturns) {
  asio::io_context io;
  Deadline deadline(io.get_executor(), 1h, 1h);
  EXPECT_EQ(test::run(io, before(deadline, answer(7), "the call")), 7);
}

// A deadline may limit several tasks, one after the other.
Task<Result<int>> two_in_a_row(Deadline& deadline) {
  auto first = co_await before(deadline, answer_later(3), "the first");
  if (!first) co_return first;
  auto second = co_await before(deadline, answer_later(4), "the second");
  if (!second) co_return second;
  co_return *first + *second;
}

TEST(Before, LimitsSeveralTasksByOneDeadline) {
  asio::io_context io;
  Deadline deadline(io.get_executor(), 1h, 1h);
  EXPECT_EQ(test::run(io, two_in_a_row(deadline)), 7);
}

TEST(Before, StopsATaskWhoseDeadlinePasses) {
  asio::io_context io;
  Deadline deadline(io.get_executor(), 10ms, 10ms);
  bool stopped = false;
  const auto result = test::run(io, hang_before(deadline, stopped));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::timeout);
  EXPECT_EQ(result.error().message(), "the call timed out");
  EXPECT_TRUE(stopped);
}

TEST(Before, StopsTheTaskOfACancelledCallerBeforeItThrows) {
  asio::io_context io;
  Deadline deadline = Deadline::never(io.get_executor());
  bool stopped = false;
  bool thrown = false;
  asio::cancellation_signal signal;
  asio::co_spawn(io, hang_before(deadline, stopped),
                 asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr failure, const auto&) {
                   thrown = failure != nullptr;
                   EXPECT_TRUE(stopped);
                 }));
  io.poll();
  signal.emit(asio::cancellation_type::terminal);
  test::run_until(io, [&] { return thrown; });
}

TEST(Deadline, IsMovedByProgress) {
  asio::io_context io;
  const auto begin = Deadline::Clock::now();
  Deadline deadline(io.get_executor(), 200ms, 1h);
  asio::steady_timer later(io, 50ms);
  later.async_wait([&](auto) { deadline.extend(); });
  bool stopped = false;
  const auto result = test::run(io, hang_before(deadline, stopped));
  EXPECT_EQ(result.error().kind(), ErrorKind::timeout);
  EXPECT_GE(Deadline::Clock::now() - begin, 250ms);
}

TEST(Deadline, IsNotMovedBeyondItsMaximum) {
  asio::io_context io;
  const auto begin = Deadline::Clock::now();
  Deadline deadline(io.get_executor(), 20ms, 40ms);
  bool stopped = false;
  std::optional<Result<int>> result;
  asio::co_spawn(io, hang_before(deadline, stopped),
                 [&](const std::exception_ptr&, Result<int> value) { result = std::move(value); });
  test::run_until(io, [&] {
    deadline.extend();
    return result.has_value();
  });
  EXPECT_LT(Deadline::Clock::now() - begin, 20s);
}

TEST(Deadline, StandsStillWhileItIsHeld) {
  asio::io_context io;
  Deadline deadline(io.get_executor(), 20ms, 20ms);
  deadline.hold();
  bool stopped = false;
  std::optional<Result<int>> result;
  asio::co_spawn(io, hang_before(deadline, stopped),
                 [&](const std::exception_ptr&, Result<int> value) { result = std::move(value); });
  asio::steady_timer later(io, 40ms);
  later.async_wait([&](auto) {
    EXPECT_FALSE(result);
    deadline.release();
  });
  test::run_until(io, [&] { return result.has_value(); });
  EXPECT_EQ(result->error().kind(), ErrorKind::timeout);
}

}  // namespace
}  // namespace proteus
