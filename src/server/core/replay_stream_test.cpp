#include <string>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "server/core/outbox.hpp"
#include "server/core/replay.hpp"

namespace proteus::server {
namespace {

TEST(ReplayStream, KeepsABoundedNumberOfEventsAndSaysWhenTheyAreGone) {
  boost::asio::io_context io;
  MemoryEventStore store({.events_per_stream = 3});
  ReplayStream stream({"s", 7}, &store);
  for (int i = 1; i <= 5; ++i)
    stream.push(std::to_string(i));
  auto outbox = std::make_shared<Outbox>(io.get_executor());
  EXPECT_EQ(proteus::test::run(io, stream.attach(outbox, 1)), ReplayStream::Attach::gone);
  EXPECT_EQ(proteus::test::run(io, stream.attach(outbox, 9)), ReplayStream::Attach::gone);
  EXPECT_EQ(proteus::test::run(io, stream.attach(outbox, 3)), ReplayStream::Attach::attached);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0], "id: 7-4\ndata: 4\n\n");
}

TEST(ReplayStream, DeliversWhatCameWhileNobodyWasThereOnce) {
  boost::asio::io_context io;
  MemoryEventStore store;
  ReplayStream stream({"s", 0}, &store);
  stream.push_once("a");
  stream.push_once("a");
  auto first = std::make_shared<Outbox>(io.get_executor());
  proteus::test::run(io, stream.attach(first, std::nullopt));
  EXPECT_EQ(first->take().size(), 1U);
  auto second = std::make_shared<Outbox>(io.get_executor());
  proteus::test::run(io, stream.attach(second, std::nullopt));
  EXPECT_TRUE(first->closed());
  EXPECT_TRUE(second->take().empty());
  stream.push("b");
  EXPECT_EQ(second->take().size(), 1U);
}

TEST(EventId, IsReadStrictly) {
  EXPECT_EQ(parse_event_id("3-14")->number, 14U);
  for (const char* text : {"", "3", "-", "3-", "-3", "3-x", "3-1 ", "99999999999999999999-1", "+3-1"}) {
    EXPECT_FALSE(parse_event_id(text)) << text;
  }
}

}  // namespace
}  // namespace proteus::server
