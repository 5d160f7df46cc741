#include "server/core/outbox.hpp"

#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

namespace proteus::server {
namespace {

// SEC-03
TEST(Outbox, GivesUpAClientThatDoesNotRead) {
  boost::asio::io_context io;
  auto outbox = std::make_shared<Outbox>(io.get_executor());
  std::size_t taken = 0;
  while (outbox->push("x"))
    ++taken;
  EXPECT_EQ(taken, 10'000U);
  EXPECT_TRUE(outbox->closed());
  EXPECT_EQ(outbox->take().size(), taken) << "what was accepted is delivered";
}

// A client that reads gets an answer of any size that the configuration allows, also behind a progress message.
TEST(Outbox, TakesALargeMessageUnlessTooMuchWaitsAlready) {
  boost::asio::io_context io;
  auto outbox = std::make_shared<Outbox>(io.get_executor());
  const std::string large(std::size_t{20} << 20U, 'x');
  EXPECT_TRUE(outbox->push("progress"));
  EXPECT_TRUE(outbox->push(large));
  EXPECT_EQ(outbox->take().size(), 2U);
  EXPECT_TRUE(outbox->push(large));
  EXPECT_FALSE(outbox->push("more"));
  EXPECT_TRUE(outbox->closed());
  EXPECT_EQ(outbox->take().size(), 1U);
}

TEST(Outbox, HoldsAnEqualNotificationOnce) {
  boost::asio::io_context io;
  auto outbox = std::make_shared<Outbox>(io.get_executor());
  outbox->push_once("changed");
  outbox->push_once("changed");
  EXPECT_EQ(outbox->take().size(), 1U);
  outbox->push_once("changed");
  EXPECT_EQ(outbox->take().size(), 1U);
}

TEST(Outbox, WakesItsReaderFromAnotherThread) {
  boost::asio::io_context io;
  auto outbox = std::make_shared<Outbox>(io.get_executor());
  auto event = boost::asio::co_spawn(io, outbox->wait(std::chrono::hours(1)), boost::asio::use_future);
  io.poll();
  std::thread([outbox] { outbox->push("x"); }).join();
  io.run();
  EXPECT_EQ(event.get(), Outbox::Event::messages);
}

}  // namespace
}  // namespace proteus::server
