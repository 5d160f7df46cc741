#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/strong.hpp"
#include "base/task_group.hpp"

namespace proteus {
namespace {

Task<> wait_for_ever() {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  timer.expires_at(boost::asio::steady_timer::time_point::max());
  co_await timer.async_wait(boost::asio::use_awaitable);
}

Task<> fail() {
  throw std::runtime_error("on purpose");
  co_return;
}

Task<> wait_for(boost::asio::steady_timer& timer) {
  boost::system::error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
}

Task<> cancel_and_join(TaskGroup& group, bool& joined) {
  group.cancel();
  co_await group.join();
  joined = true;
}

TEST(TaskGroup, CancelsAndAwaitsWhatItOwns) {
  boost::asio::io_context io;
  TaskGroup group(io.get_executor());
  for (int i = 0; i < 3; ++i)
    group.spawn("waiter", wait_for_ever());
  group.spawn("failing", fail());
  io.poll();
  EXPECT_EQ(group.size(), 3U);
  bool joined = false;
  boost::asio::co_spawn(io, cancel_and_join(group, joined), boost::asio::detached);
  io.run();
  EXPECT_TRUE(joined);
  EXPECT_EQ(group.size(), 0U);
}

// What the tasks use belongs to whoever joins them.
TEST(TaskGroup, IsJoinedInFullByACancelledCoroutine) {
  boost::asio::io_context io;
  TaskGroup group(io.get_executor());
  boost::asio::steady_timer release(io, boost::asio::steady_timer::time_point::max());
  group.spawn("waiter", wait_for(release));
  boost::asio::cancellation_signal signal;
  bool left = false;
  boost::asio::co_spawn(io, group.join(),
                        boost::asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr& thrown) {
                          left = true;
                          EXPECT_TRUE(thrown);
                        }));
  io.poll();
  signal.emit(boost::asio::cancellation_type::terminal);
  io.poll();
  EXPECT_FALSE(left);
  release.cancel();
  io.run();
  EXPECT_TRUE(left);
}

TEST(TaskGroup, CancelsATaskThatIsSpawnedAfterCancel) {
  boost::asio::io_context io;
  TaskGroup group(io.get_executor());
  group.cancel();
  group.spawn("late", wait_for_ever());
  io.run();
  EXPECT_EQ(group.size(), 0U);
}

TEST(Error, SaysWhereItHappened) {
  const Error error = errors::timeout("tools/list").within("upstream banking");
  EXPECT_EQ(error.message(), "upstream banking: tools/list timed out");
  EXPECT_EQ(error.kind(), ErrorKind::timeout);
}

TEST(Log, HidesCredentialsAndControlCharacters) {
  EXPECT_EQ(log::redact("AUTHORIZATION", "Bearer abc"), "[redacted]");
  EXPECT_EQ(log::redact("X-Other", "a\nb"), "a\\x0ab");
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock;
  const auto before = clock.now();
  EXPECT_EQ(clock.now(), before);
  clock.advance(std::chrono::seconds(5));
  EXPECT_EQ(clock.now() - before, std::chrono::seconds(5));
}

}  // namespace
}  // namespace proteus
