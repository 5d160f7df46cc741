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
  auto outbox = std::make_shared<Outbox>(io.get_executor(), Outbox::Limits{.messages = 3, .bytes = 1000});
  EXPECT_TRUE(outbox->push("1"));
  EXPECT_TRUE(outbox->push("2"));
  EXPECT_TRUE(outbox->push("3"));
  EXPECT_FALSE(outbox->push("4"));
  EXPECT_TRUE(outbox->closed());
  EXPECT_EQ(outbox->take(), (std::vector<std::string>{"1", "2", "3"}));
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
