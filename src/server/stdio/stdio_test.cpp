#include <array>
#include <map>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "server/api/registered_service.hpp"
#include "server/stdio/stdio_endpoint.hpp"
#include "server/stdio/stdio_pipes.hpp"
#include "server/testing/following_service.hpp"
#include "server/testing/test_server.hpp"

namespace proteus::server {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

constexpr std::chrono::milliseconds kPatience = std::chrono::minutes(1);

// A server without pipes, which keeps the lines that it writes.
class Stdio : public ::testing::Test {
 protected:
  explicit Stdio(mcp::Eras eras = {})
      : service({.name = "test", .version = "1"}, {}, listeners),
        endpoint(service, listeners, clock, SealingKey::random(), {.eras = eras, .line_bytes = 100'000},
                 io.get_executor(), [this](std::string line) {
                   if (line.size() > most) return false;
                   lines.push_back(std::move(line));
                   return true;
                 }) {
    service
        .add_tool({.name = "echo"}, ToolHandler([](Context& context) -> Outcome<ToolResult> {
                    return ToolResult::json(context.arguments());
                  }))
        .value();
    service
        .add_tool({.name = "ask"}, ToolHandler([](Context& context) -> Outcome<ToolResult> {
                    if (context.answer("k") == nullptr) return Ask().roots("k");
                    return ToolResult::text("asked");
                  }))
        .value();
  }
  ~Stdio() override {
    io.restart();
    boost::asio::co_spawn(io, endpoint.close(), boost::asio::use_future);
    io.run();
  }

  // Sends a line and returns what the server writes.
  std::vector<boost::json::value> tell(const std::string& line) {
    endpoint.feed(line + "\n");
    return said();
  }
  std::vector<boost::json::value> said() {
    io.restart();
    io.poll();
    std::vector<boost::json::value> out;
    for (const auto& line : std::exchange(lines, {})) {
      EXPECT_EQ(line.find('\n'), line.size() - 1);
      out.push_back(boost::json::parse(line));
    }
    return out;
  }
  std::string initialize(std::string_view capabilities = "{}", std::string_view version = "2025-06-18") {
    return rpc("0", "initialize",
               fmt::format(R"("protocolVersion":"{}","capabilities":{},"clientInfo":{{"name":"a","version":"1"}})",
                           version, capabilities));
  }

  boost::asio::io_context io;
  SystemClock clock;
  Listeners listeners;
  RegisteredService service;
  std::size_t most = std::string::npos;  // longer lines are dropped
  std::vector<std::string> lines;
  StdioEndpoint endpoint;
};

// PRO-14
TEST_F(Stdio, ServesBothErasOnOneChannel) {
  EXPECT_EQ(tell(rpc("1", "server/discover", modern_meta())).at(0).at("result").at("resultType"), "complete");
  EXPECT_EQ(tell(rpc("2", "tools/call", R"("name":"echo",)" + modern_meta())).at(0).at("id"), 2);
  EXPECT_EQ(tell(initialize()).at(0).at("result").at("protocolVersion"), "2025-06-18");
  EXPECT_EQ(tell(rpc("3", "tools/call", R"("name":"echo")")).at(0).at("id"), 3);
  EXPECT_EQ(tell(rpc("4", "ping", "")).at(0).at("id"), 4);
}

TEST_F(Stdio, RequiresTheHandshakeOfLegacyClients) {
  EXPECT_EQ(code_of(tell(rpc("1", "tools/list", "")).at(0)), -32600);
  EXPECT_TRUE(tell(rpc("1", "ping", "")).at(0).as_object().contains("result"));
}

TEST_F(Stdio, AsksALegacyClientWithARequestAndAModernOneWithAResult) {
  tell(initialize(R"({"roots":{}})"));
  const auto request = tell(rpc("5", "tools/call", R"("name":"ask")")).at(0);
  EXPECT_EQ(request.at("method"), "roots/list");
  const auto answered =
      tell(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"roots":[]}}}})", request.at("id").as_int64()));
  EXPECT_EQ(text_of(answered.at(0)), "asked");
  const auto modern = tell(rpc("6", "tools/call", R"("name":"ask",)" + modern_meta(R"({"roots":{}})"))).at(0);
  EXPECT_EQ(modern.at("result").at("resultType"), "input_required");
}

TEST_F(Stdio, AnswersWithAnErrorWhereTheAnswerWasDropped) {
  tell(initialize());
  most = 500;
  const std::string call = fmt::format(R"("name":"echo","arguments":{{"text":"{}"}})", std::string(500, 'x'));
  EXPECT_EQ(code_of(tell(rpc("1", "tools/call", call)).at(0)), -32603);
  const auto modern = tell(rpc("2", "tools/call", call + "," + modern_meta()));
  ASSERT_EQ(modern.size(), 1U);
  EXPECT_EQ(modern.at(0).at("id"), 2);
}

// PRO-16
TEST_F(Stdio, AnswersEachRequestOfABatchWithAnErrorWhereTheAnswersWereDropped) {
  tell(initialize("{}", "2025-03-26"));
  most = 500;
  const std::string call = fmt::format(R"("name":"echo","arguments":{{"text":"{}"}})", std::string(500, 'x'));
  const auto answers = tell("[" + rpc("1", "tools/call", call) + "," + rpc("\"b\"", "ping", "") + "]");
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers.at(0).at("id"), 1);
  EXPECT_EQ(code_of(answers.at(0)), -32603);
  EXPECT_EQ(answers.at(1).at("id"), "b");
  EXPECT_EQ(code_of(answers.at(1)), -32603);
}

TEST_F(Stdio, AnswersARequestWhoseHandlerThrows) {
  service.add_prompt({.name = "greet"}, PromptHandler([](Context&) { return PromptResult{}; })).value();
  service.add_completion("greet", "who", [](const CompletionRequest&) -> Completion { throw std::runtime_error("x"); });
  tell(initialize());
  const std::string complete = R"("ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"a"})";
  EXPECT_EQ(code_of(tell(rpc("1", "completion/complete", complete)).at(0)), -32603);
  EXPECT_EQ(code_of(tell(rpc("1", "completion/complete", complete + "," + modern_meta())).at(0)), -32603);
  EXPECT_EQ(tell(rpc("1", "tools/call", R"("name":"echo")")).at(0).at("id"), 1) << "the id is free again";
}

// PRO-05
TEST_F(Stdio, ListensUntilCancelled) {
  const auto acknowledged =
      tell(rpc("7", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta()));
  EXPECT_EQ(acknowledged.at(0).at("method"), "notifications/subscriptions/acknowledged");
  service.remove_tool("echo");
  EXPECT_EQ(said().at(0).at("params").at("_meta").at("io.modelcontextprotocol/subscriptionId"), 7);
  EXPECT_TRUE(tell(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})").empty());
  service.remove_tool("ask");
  EXPECT_TRUE(said().empty());
  EXPECT_EQ(listeners.size(), 0U);
}

// PRO-16
TEST_F(Stdio, SurvivesBadLines) {
  EXPECT_EQ(code_of(tell("{").at(0)), -32700);
  EXPECT_EQ(code_of(tell("[]").at(0)), -32600);
  EXPECT_TRUE(tell("").empty());
  EXPECT_TRUE(tell("  \r").empty());
  const auto long_line = tell(std::string(200'000, 'x'));
  ASSERT_EQ(long_line.size(), 1U);
  EXPECT_EQ(code_of(long_line.at(0)), -32600);
  EXPECT_EQ(tell(rpc("1", "server/discover", modern_meta())).at(0).at("id"), 1);
  EXPECT_TRUE(tell(R"({"jsonrpc":"2.0","id":99,"result":{}})").empty());
}

TEST_F(Stdio, GivesNoSessionTheAnswersToAnEarlierOne) {
  const auto answer_to = [](const boost::json::value& question) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"roots":[]}}}})", question.at("id").as_int64());
  };
  tell(initialize(R"({"roots":{}})"));
  const auto first = tell(rpc("1", "tools/call", R"("name":"ask")")).at(0);
  const auto again = tell(initialize(R"({"roots":{}})"));
  ASSERT_EQ(again.size(), 2U) << "the first call waits for an answer that nobody owes";
  EXPECT_EQ(again.at(1).at("id"), 1);
  EXPECT_TRUE(again.at(1).at("result").at("isError").as_bool());
  const auto second = tell(rpc("2", "tools/call", R"("name":"ask")")).at(0);
  EXPECT_NE(first.at("id"), second.at("id"));
  EXPECT_TRUE(tell(answer_to(first)).empty());
  EXPECT_EQ(text_of(tell(answer_to(second)).at(0)), "asked");
}

// PRO-16
TEST_F(Stdio, TakesBatchesInTheOneRevisionThatHasThem) {
  const std::string batch = "[" + rpc("1", "ping", "") + R"(,{"jsonrpc":"2.0","method":"notifications/initialized"},)" +
                            rpc("\"b\"", "tools/call", R"("name":"echo")") + ",7]";
  EXPECT_EQ(code_of(tell(batch).at(0)), -32600) << "before the handshake";
  tell(initialize("{}", "2025-03-26"));
  const auto answers = tell(batch).at(0).as_array();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers.at(0).at("id"), 1);
  EXPECT_EQ(answers.at(1).at("id"), "b");
  EXPECT_EQ(code_of(answers.at(2)), -32600);
  EXPECT_TRUE(tell(R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])").empty());
  EXPECT_EQ(code_of(tell("[]").at(0)), -32600);
  tell(initialize("{}", "2025-06-18"));
  EXPECT_EQ(code_of(tell(batch).at(0)), -32600);
}

// PRO-19
TEST_F(Stdio, AnswersWhatIsUnderWayWhenTheInputEnds) {
  boost::asio::steady_timer until(io, boost::asio::steady_timer::time_point::max());
  service
      .add_tool({.name = "slow"}, AsyncHandler<ToolResult>([&until](Context&) -> Task<Outcome<ToolResult>> {
                  boost::system::error_code ignored;
                  co_await until.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
                  co_return ToolResult::text("done");
                }))
      .value();
  tell(initialize(R"({"roots":{}})"));
  tell(rpc("1", "tools/call", R"("name":"slow")"));
  tell(rpc("2", "tools/call", R"("name":"slow",)" + modern_meta()));
  tell(rpc("3", "tools/call", R"("name":"ask")"));
  tell(rpc("4", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta()));
  endpoint.feed(rpc("5", "tools/call", R"("name":"echo")"));  // without the end of its line
  auto finished = boost::asio::co_spawn(io, endpoint.finish(), boost::asio::use_future);

  std::map<std::int64_t, boost::json::value> answers;
  const auto collect = [&] {
    for (auto& message : said()) {
      if (!message.as_object().contains("method")) answers[message.at("id").as_int64()] = message;
    }
  };
  collect();
  EXPECT_THAT(answers, ElementsAre(Key(3), Key(4), Key(5)));
  EXPECT_TRUE(answers.at(3).at("result").at("isError").as_bool()) << "nobody is there to be asked";
  EXPECT_EQ(answers.at(4).at("result").at("resultType"), "complete");
  EXPECT_NE(finished.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  until.cancel();
  collect();
  EXPECT_EQ(text_of(answers.at(1)), "done");
  EXPECT_EQ(text_of(answers.at(2)), "done");
  EXPECT_EQ(finished.wait_for(std::chrono::seconds(0)), std::future_status::ready);
}

TEST_F(Stdio, TakesMessagesInAnyPieces) {
  const std::string line = rpc("1", "server/discover", modern_meta()) + "\n";
  for (const char c : line)
    endpoint.feed(std::string_view(&c, 1));
  EXPECT_EQ(said().at(0).at("id"), 1);
}

TEST(StdioEndpoint, AnswersAListenRequestOverWhichTheServiceFails) {
  boost::asio::io_context io;
  SystemClock clock;
  Listeners listeners;
  FollowingService service;
  service.sources = []() -> std::vector<Service::Refused> { throw std::runtime_error("secret"); };
  std::vector<std::string> lines;
  StdioEndpoint endpoint(service, listeners, clock, SealingKey::random(), {}, io.get_executor(),
                         [&lines](std::string line) {
                           lines.push_back(std::move(line));
                           return true;
                         });
  const std::string listen = rpc("7", "subscriptions/listen", R"("notifications":{},)" + modern_meta()) + "\n";
  endpoint.feed(listen);
  io.poll();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(code_of(boost::json::parse(lines[0])), -32603);
  EXPECT_EQ(lines[0].find("secret"), std::string::npos);
  EXPECT_EQ(listeners.size(), 0U);
  service.sources = nullptr;
  endpoint.feed(listen);
  io.restart();
  io.poll();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[1].find("acknowledged"), std::string::npos) << "the id is free again";
  boost::asio::co_spawn(io, endpoint.close(), boost::asio::use_future);
  io.restart();
  io.run();
}

TEST(StdioPipes, ReadUntilTheEndAndWriteEverything) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  ASSERT_EQ(::pipe(in.data()), 0);
  ASSERT_EQ(::pipe(out.data()), 0);
  {
    StdioPipes pipes(in[0], out[1]);
    std::string read;
    std::thread reader(
        [&] { EXPECT_EQ(pipes.read([&](std::string bytes) { read += bytes; }), StdioPipes::End::of_input); });
    ASSERT_EQ(::write(in[1], "abc", 3), 3);
    ::close(in[1]);
    reader.join();
    EXPECT_EQ(read, "abc");
    pipes.write("one\n");
    pipes.write("two\n");
    pipes.flush(kPatience);
  }
  ::close(out[1]);
  std::array<char, 64> buffer{};
  EXPECT_EQ(std::string_view(buffer.data(), static_cast<std::size_t>(::read(out[0], buffer.data(), buffer.size()))),
            "one\ntwo\n");
  ::close(in[0]);
  ::close(out[0]);
}

TEST(StdioPipes, WriteALineOfAnyLength) {
  std::array<int, 2> out{};
  ASSERT_EQ(::pipe(out.data()), 0);
  const std::size_t length = std::size_t{70} << 20U;
  std::size_t read = 0;
  std::thread reader([&] {
    std::array<char, 65536> buffer{};
    for (ssize_t count = 0; (count = ::read(out[0], buffer.data(), buffer.size())) > 0;)
      read += static_cast<std::size_t>(count);
  });
  {
    StdioPipes pipes(0, out[1]);
    pipes.write(std::string(length, 'x'));
    pipes.flush(kPatience);
  }
  ::close(out[1]);
  reader.join();
  EXPECT_EQ(read, length);
  ::close(out[0]);
}

TEST(StdioPipes, GiveUpAClientThatDoesNotRead) {
  std::array<int, 2> out{};
  ASSERT_EQ(::pipe(out.data()), 0);
  {
    StdioPipes pipes(0, out[1]);
    while (pipes.write(std::string(std::size_t{1} << 20U, 'x'))) {
    }
    EXPECT_TRUE(pipes.write("an error")) << "short lines have more room";
    pipes.flush(std::chrono::milliseconds(1));
    EXPECT_TRUE(pipes.write("more")) << "nobody is told of what nobody reads";
  }
  ::close(out[1]);
  ::close(out[0]);
}

TEST(StdioPipes, CanBeInterrupted) {
  std::array<int, 2> in{};
  ASSERT_EQ(::pipe(in.data()), 0);
  StdioPipes pipes(in[0], 1);
  std::thread reader([&] { EXPECT_EQ(pipes.read([](std::string) {}), StdioPipes::End::interrupted); });
  pipes.interrupt();
  reader.join();
  pipes.wait();
  ::close(in[0]);
  ::close(in[1]);
}

TEST(StdioPipes, NoticeThatNobodyReads) {
  std::array<int, 2> out{};
  ASSERT_EQ(::pipe(out.data()), 0);
  StdioPipes pipes(0, out[1]);
  ::close(out[0]);
  pipes.wait();
  ::close(out[1]);
}

}  // namespace
}  // namespace proteus::server
