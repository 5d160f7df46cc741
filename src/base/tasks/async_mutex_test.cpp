#include "base/tasks/async_mutex.hpp"

#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace proteus {
namespace {

namespace asio = boost::asio;

// Holds a mutex until the bell rings, and notes when it begins and ends.
Task<> hold(AsyncMutex& mutex, Bell& bell, int number, std::vector<int>& noted) {
  const auto lock = co_await mutex.take();
  noted.push_back(number);
  co_await bell.wait();
  noted.push_back(-number);
}

struct AsyncMutexTest : testing::Test {
  // Starts a coroutine and runs everything up to the point where all wait.
  template <class... With>
  void start(int number, With... with) {
    asio::co_spawn(io, hold(mutex, bell, number, noted), with...);
    settle();
  }
  void settle() {
    io.restart();
    io.poll();
  }

  asio::io_context io;
  AsyncMutex mutex{io.get_executor()};
  Bell bell{io.get_executor()};
  std::vector<int> noted;
};

TEST_F(AsyncMutexTest, IsHeldByOneAtATime) {
  start(1, asio::detached);
  start(2, asio::detached);
  start(3, asio::detached);
  EXPECT_TRUE(mutex.taken());
  EXPECT_EQ(noted, std::vector<int>({1})) << "the others wait";
  for (int i = 0; i < 3; ++i) {
    bell.ring();
    settle();
  }
  EXPECT_EQ(noted, std::vector<int>({1, -1, 2, -2, 3, -3}));
  EXPECT_FALSE(mutex.taken());
}

TEST_F(AsyncMutexTest, OneWhoGivesUpWaitingDoesNotGetIt) {
  start(1, asio::detached);
  asio::cancellation_signal give_up;
  bool thrown = false;
  start(2,
        asio::bind_cancellation_slot(give_up.slot(), [&](const std::exception_ptr& why) { thrown = why != nullptr; }));
  give_up.emit(asio::cancellation_type::terminal);
  settle();
  EXPECT_TRUE(thrown);
  bell.ring();
  settle();
  EXPECT_EQ(noted, std::vector<int>({1, -1}));
  EXPECT_FALSE(mutex.taken());
}

}  // namespace
}  // namespace proteus
