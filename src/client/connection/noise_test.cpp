// Tests of the lines that a server can cause in the log: few, with its name, and without any result.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/modern_http_fixture.hpp"
#include "client/transport/channel.hpp"

namespace proteus::client {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

// Collects the lines of the log while it lives.
class Noise {
 public:
  Noise() {
    lines().clear();
    log::redirect([](std::string_view line) { lines().emplace_back(line); });
  }
  ~Noise() { log::redirect(nullptr); }
  Noise(const Noise&) = delete;
  Noise& operator=(const Noise&) = delete;

  static std::vector<std::string>& lines() {
    static std::vector<std::string> all;
    return all;
  }
};

class DeafInbox final : public Inbox {
 public:
  void on_notification(const Received& /*message*/, RequestId /*during*/) override {}
  void on_request(Received /*message*/, RequestId /*during*/) override {}
};

// A channel whose messages come from the test.
class FedChannel final : public Channel {
 public:
  FedChannel(const Executor& executor, Inbox& inbox, std::shared_ptr<StrangerLog> log)
      : Channel(executor, inbox, std::move(log)) {}

  void feed(std::string_view line) { take(line, {}); }
  Task<Result<>> start() override { co_return Result<>{}; }
  bool has_headers() const override { return false; }
  Task<> close() override { co_return; }

 private:
  Task<Result<>> write(const Outgoing& /*message*/) override { co_return Result<>{}; }
};

class ChannelNoise : public ::testing::Test {
 protected:
  ManualClock clock;
  boost::asio::io_context io;
  DeafInbox inbox;
  Noise noise;
  FedChannel channel{io.get_executor(), inbox, std::make_shared<StrangerLog>("upstream up", clock)};
};

// SEC-03: a program that prints without end does not fill the disk.
TEST_F(ChannelNoise, OfGarbageHasABound) {
  for (int i = 0; i < 10'000; ++i)
    channel.feed("starting up \x1b[31m" + std::string(500, '.'));
  EXPECT_EQ(Noise::lines().size(), StrangerLog::kLinesPerMinute);
  EXPECT_THAT(Noise::lines(),
              Each(AllOf(HasSubstr("upstream up: ignored"), HasSubstr("starting up"), Not(HasSubstr("\x1b")))));
  clock.advance(std::chrono::minutes(1));
  channel.feed("once more");
  EXPECT_THAT(Noise::lines().back(), HasSubstr("unwritten=9880"));
}

TEST_F(ChannelNoise, OfAnswersToNoRequestHasABound) {
  for (int i = 1000; i < 11'000; ++i)
    channel.feed(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{}}}})", i));
  EXPECT_EQ(Noise::lines().size(), StrangerLog::kLinesPerMinute);
  EXPECT_THAT(Noise::lines(), Each(HasSubstr("upstream up: an answer to no request")));
}

// A result belongs to one caller, not to readers of the log.
TEST_F(ChannelNoise, HasNothingOfAResult) {
  channel.feed(R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hunter2"}]}})");
  channel.feed(R"({"jsonrpc":"2.0","id":"hunt","result":{"text":"hunter2"}})");
  channel.feed(R"({"result":{"text":"hunter2"},"id":7,"jsonrpc":"2.0"})");
  // Broken results are not logged either.
  channel.feed(R"({"result":{"text":"hunter2"},"id":7,"jsonrpc":"2.0")");
  channel.feed(R"(  {"result":{"text":"hunter2"},"id":7,"id":8})");
  channel.feed(R"([{"result":{"text":"hunter2"},"id":7}])");
  EXPECT_EQ(Noise::lines().size(), 6U);
  EXPECT_THAT(Noise::lines(), Each(Not(HasSubstr("hunter2"))));
  EXPECT_THAT(Noise::lines()[0], HasSubstr("its id is 7"));
}

using HttpNoise = test::ModernHttp;

TEST_F(HttpNoise, HasABoundAndNothingOfAResult) {
  ManualClock clock;
  const Noise noise;
  mcp.on["tools/call"] = [this](const FakeRequest& request) {
    const auto feed = server.feed();
    std::string events;
    for (int i = 0; i < 1000; ++i)
      events += "data: {\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{\"text\":\"hunter2\"}}\n\n";
    feed->push(std::move(events));
    feed->event(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", request.id(), test::text_result("fine")));
    return FakeResponse{.type = "text/event-stream", .feed = feed};
  };
  Options options;
  options.log = std::make_shared<StrangerLog>("upstream up", clock);
  test::Client client(io, server.url(), std::move(options));
  EXPECT_EQ(client.text("echo"), "fine");
  EXPECT_EQ(std::ranges::count_if(Noise::lines(), [](const auto& line) { return line.contains("987654"); }),
            StrangerLog::kLinesPerMinute);
  EXPECT_THAT(Noise::lines(), Each(AllOf(HasSubstr("upstream up: "), Not(HasSubstr("hunter2")))));
}

TEST_F(HttpNoise, OfProgressThatIsNoneHasABound) {
  ManualClock clock;
  const Noise noise;
  log::set_level(log::Level::debug);
  mcp.on["tools/call"] = [this](const FakeRequest& request) {
    const auto feed = server.feed();
    for (int i = 0; i < 1000; ++i) {
      feed->event(fmt::format(
          R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":"x"}}}})",
          request.id()));
    }
    feed->event(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", request.id(), test::text_result("fine")));
    return FakeResponse{.type = "text/event-stream", .feed = feed};
  };
  Options options;
  options.log = std::make_shared<StrangerLog>("upstream up", clock);
  test::Client client(io, server.url(), std::move(options));
  RequestOptions call;
  call.on_progress = [](const mcp::Progress&) {};
  EXPECT_EQ(client.text("echo", "{}", call), "fine");
  log::set_level(log::Level::info);
  const auto ignored = std::ranges::count_if(
      Noise::lines(), [](const auto& line) { return line.contains("upstream up: progress is ignored"); });
  EXPECT_GT(ignored, 0);
  EXPECT_LE(ignored, StrangerLog::kLinesPerMinute);
}

// Every tool of a list may be invalid and be left out.
TEST_F(HttpNoise, OfListsHasABound) {
  ManualClock clock;
  const Noise noise;
  mcp.on["tools/list"] = [](const FakeRequest& request) {
    std::string tools;
    for (int i = 0; i < 1000; ++i) {
      tools += fmt::format(
          R"({}{{"name":"t{}","inputSchema":{{"type":"object","properties":{{"a":{{"type":"string","x-mcp-header":"not a name"}}}}}}}})",
          i > 0 ? "," : "", i);
    }
    return test::result(request, fmt::format(R"({{"tools":[{}]}})", tools));
  };
  Options options;
  options.log = std::make_shared<StrangerLog>("upstream up", clock);
  test::Client client(io, server.url(), std::move(options));
  const auto tools = client.run(client.connection.list(mcp::Method::tools_list));
  ASSERT_TRUE(tools) << tools.error().message();
  EXPECT_EQ(tools->entries.size(), 0U);
  EXPECT_EQ(Noise::lines().size(), StrangerLog::kLinesPerMinute);
  EXPECT_THAT(Noise::lines(), Each(AllOf(HasSubstr("upstream up: the tool t"), HasSubstr("is left out"))));
}

}  // namespace
}  // namespace proteus::client
