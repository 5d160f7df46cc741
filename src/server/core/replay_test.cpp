#include "server/core/replay.hpp"

#include <algorithm>
#include <atomic>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "server/testing/test_server.hpp"

namespace proteus::server {
namespace {

constexpr int kEvents = 40;

class Gate {
 public:
  void open() { open_ = true; }
  void close() { open_ = false; }
  boost::asio::awaitable<void> pass() const {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    while (!open_) {
      timer.expires_after(std::chrono::milliseconds(1));
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
  }

 private:
  std::atomic<bool> open_ = false;
};

// Sends the second half of the events once the gate is open.
boost::asio::awaitable<Outcome<ToolResult>> count(Context& context, const Gate& gate) {
  for (int i = 1; i <= kEvents; ++i) {
    if (i == kEvents / 2) co_await gate.pass();
    context.progress(i);
  }
  co_return ToolResult::text("done");
}

// What a client has received of a stream.
struct Seen {
  std::string last_id;
  std::vector<std::string> messages;

  void add(const RawClient::Event& event) {
    if (!event.id.empty()) last_id = event.id;
    if (!event.data.empty()) messages.push_back(event.data);
  }
};

// SES-21, PRO-06
TEST(Replay, AConnectionThatDropsAtAnyOfAThousandPointsLosesNothing) {
  Gate gate;
  Server server({.name = "test", .version = "1"});
  add_async_tool(server, {.name = "count"}, [&gate](Context& context) { return count(context, gate); }).value();
  const std::uint16_t port = server.listen().value();
  LegacyClient client(port);
  const auto start = [&](RawClient& connection, int id) {
    connection.send_request("POST", client.fields(),
                            rpc(std::to_string(id), "tools/call", R"("name":"count","_meta":{"progressToken":"p"})"));
  };

  gate.open();
  RawClient whole(port);
  start(whole, 0);
  ASSERT_EQ(whole.read_answer().status, 200);
  Seen all;
  std::size_t bytes = 0;
  while (const auto event = whole.read_event()) {
    bytes += event->data.size() + event->id.size() + 12;
    all.add(*event);
  }
  ASSERT_EQ(all.messages.size(), kEvents + 1U);

  for (int point = 0; point < 1000; ++point) {
    gate.close();
    const std::size_t cut = bytes * static_cast<std::size_t>(point) / 1000;
    Seen seen;
    {
      RawClient dropped(port);
      start(dropped, point + 1);
      ASSERT_EQ(dropped.read_answer().status, 200);
      seen.add(*dropped.read_event());  // without an id there is nothing to resume
      if (cut > bytes / 3) gate.open();
      dropped.read_stream_up_to(cut, [&](const RawClient::Event& event) { seen.add(event); });
    }
    gate.open();
    RawClient resumed(port);
    resumed.send_request("GET", client.fields() + "Last-Event-ID: " + seen.last_id + "\r\n");
    ASSERT_EQ(resumed.read_answer().status, 200) << point;
    while (const auto event = resumed.read_event())
      seen.add(*event);
    ASSERT_EQ(seen.messages.size(), all.messages.size()) << point;
    for (std::size_t i = 0; i + 1 < all.messages.size(); ++i)
      ASSERT_EQ(seen.messages[i], all.messages[i]) << point;
    ASSERT_EQ(text_of(boost::json::parse(seen.messages.back())), "done");
  }
}

class ReplayStreams : public ::testing::Test {
 protected:
  std::shared_ptr<Outbox> outbox() { return std::make_shared<Outbox>(io.get_executor()); }
  ReplayStream::Attach attach(std::shared_ptr<Outbox> to, std::optional<std::uint64_t> after) {
    return proteus::test::run(io, stream.attach(std::move(to), after));
  }

  boost::asio::io_context io;
  MemoryEventStore store{{.events_per_stream = 4}};
  ReplayStream stream{{"s", 0}, &store};
};

TEST_F(ReplayStreams, WhatWasToBeSaidOnceIsSaidAgainWhereItWasGivenUp) {
  stream.push_once("changed");
  for (int i = 0; i < 6; ++i)
    stream.push(std::to_string(i));
  const auto back = outbox();
  EXPECT_EQ(attach(back, 0), ReplayStream::Attach::gone);
  EXPECT_EQ(attach(back, std::nullopt), ReplayStream::Attach::attached);
  const auto frames = back->take();
  ASSERT_EQ(frames.size(), 5U);
  EXPECT_NE(frames.back().find("changed"), std::string::npos);
}

// SEC-03: a client may subscribe to ever new resources and never connect.
TEST_F(ReplayStreams, KeepsABoundedPartOfWhatWasToBeSaidOnce) {
  const auto waiting_after = [this](int messages, const std::string& padding) {
    for (int i = 0; i < messages; ++i)
      stream.push_once(fmt::format("{}-{}.", padding, i));
    const auto back = outbox();
    EXPECT_EQ(attach(back, std::nullopt), ReplayStream::Attach::attached);
    stream.detach(std::nullopt);
    return back->take();
  };
  const auto has = [](const std::vector<std::string>& frames, std::string_view text) {
    return std::ranges::any_of(frames, [text](const auto& frame) { return frame.contains(text); });
  };
  const auto many = waiting_after(3'000, "a");
  EXPECT_LE(many.size(), 1'100U);
  EXPECT_FALSE(has(many, "a-0."));
  EXPECT_TRUE(has(many, "a-2000.")) << "which the store has dropped";
  EXPECT_TRUE(has(many, "a-2999."));
  const auto large = waiting_after(1'000, std::string(8'000, 'b'));
  EXPECT_LE(large.size(), 600U);
  EXPECT_TRUE(has(large, "b-600.")) << "which the store has dropped";
  EXPECT_EQ(waiting_after(1'003, "c").size(), 1'003U) << "as many as a session can wait for";
}

TEST_F(ReplayStreams, AStreamThatHasEndedIsStillThereForWhoComesBack) {
  stream.push("a");
  stream.push("b");
  stream.finish();
  const auto back = outbox();
  EXPECT_EQ(attach(back, 1), ReplayStream::Attach::attached);
  EXPECT_EQ(back->take().size(), 1U);
  EXPECT_TRUE(back->closed());
}

TEST_F(ReplayStreams, TheConnectionThatTakesOverTakesThePlace) {
  const auto place = std::make_shared<int>(1);
  proteus::test::run(io, stream.attach(outbox(), std::nullopt, place));
  EXPECT_EQ(stream.place(), place);
}

TEST_F(ReplayStreams, LeavesNothingInTheStoreWhenItGoes) {
  {
    ReplayStream other({"s", 1}, &store);
    other.push("x");
    EXPECT_GT(store.bytes(), 0U);
  }
  EXPECT_EQ(store.bytes(), 0U);
}

}  // namespace
}  // namespace proteus::server
