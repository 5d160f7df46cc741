#include "base/tasks/task_group.hpp"

#include <stdexcept>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

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

// The coroutine that joins the tasks owns what they use.
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

Task<> throw_a_number() {
  throw 42;
  co_return;
}

TEST(TaskGroup, SurvivesATaskThatThrowsSomethingElseThanAnException) {
  boost::asio::io_context io;
  TaskGroup group(io.get_executor());
  group.spawn("thrower", throw_a_number());
  io.run();
  EXPECT_EQ(group.size(), 0U);
}

TEST(TaskGroup, CancelsATaskThatIsSpawnedAfterCancel) {
  boost::asio::io_context io;
  TaskGroup group(io.get_executor());
  group.cancel();
  group.spawn("late", wait_for_ever());
  io.run();
  EXPECT_EQ(group.size(), 0U);
}

}  // namespace
}  // namespace proteus
