#include <atomic>
#include <sstream>

#include <boost/asio/this_coro.hpp>
#include <gmock/gmock.h>
#include <proteus/server_async.hpp>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using server::modern_fields;
using server::modern_meta;
using server::RawClient;
using server::rpc;
using test::Reaction;
using test::ScriptedUpstream;
using test::small_lists;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;
using test::wait_until;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text(std::string_view said) {
  return fmt::format(R"({{"resultType":"complete","content":[{{"type":"text","text":"{}"}}]}})", said);
}

class Distrust : public ::testing::Test {
 protected:
  Distrust() { gateway.discover(); }

  // Returns what the caller gets if the upstream reacts to the call like this.
  boost::json::value call(Reaction to_call, std::string_view meta = {}) {
    {
      const std::scoped_lock lock(mutex);
      reaction = std::move(to_call);
    }
    return gateway.call("up_tool", "{}", {}, meta);
  }

  std::mutex mutex;
  Reaction reaction{text("")};
  ScriptedUpstream upstream{[this](const boost::json::object& message) -> Reaction {
    if (auto list = small_lists(message)) return *list;
    const std::scoped_lock lock(mutex);
    return reaction;
  }};
  // The circuit must not open, however many answers are wrong.
  static providers::UpstreamSettings patient(std::uint16_t port) {
    auto settings = upstream_at("up", port);
    settings.circuit_failures = 1000;
    settings.max_message_bytes = ByteSize(100'000);
    return settings;
  }
  TestGateway gateway{{patient(upstream.port())}};
};

// SEC-06
TEST_F(Distrust, AnAnswerMustBeAnAnswerToTheRequest) {
  for (const std::string body :
       {R"({"jsonrpc":"2.0","id":4711,"result":{"content":[]}})", R"({"jsonrpc":"2.0","id":"1","result":{}})",
        R"({"jsonrpc":"2.0","method":"tools/call","id":1})", R"([])", R"({})", "", "not json",
        R"({"jsonrpc":"2.0","id":1,"id":2,"result":{}})"}) {
    const auto answer = call(Reaction::body(body));
    ASSERT_TRUE(answer.as_object().contains("error")) << body << boost::json::serialize(answer);
    EXPECT_EQ(answer.at("id"), 1);
    EXPECT_THAT(std::string(answer.at("error").at("message").as_string()), HasSubstr("upstream up")) << body;
  }
  EXPECT_TRUE(call(text("good")).as_object().contains("result"));
}

// SEC-06
TEST_F(Distrust, AnAnswerHasASize) {
  const auto answer = call(text(std::string(200'000, 'x')));
  ASSERT_TRUE(answer.as_object().contains("error"));
  EXPECT_LT(boost::json::serialize(answer).size(), 2000U);
  EXPECT_TRUE(call(text(std::string(50'000, 'x'))).as_object().contains("result"));
}

// SEC-06
TEST_F(Distrust, MessagesInFrontOfAnAnswerGoToNobodyUnlessTheyWereAskedFor) {
  const auto answer = call(
      Reaction::events("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":"
                       "\"theirs\",\"progress\":1}}\n\n"
                       "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\",\"params\":{}}\n\n"
                       "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
                       "\"error\",\"data\":\"noise\"}}\n\n"));
  ASSERT_TRUE(answer.as_object().contains("error")) << "there was no answer among them";
  EXPECT_THAT(boost::json::serialize(answer), Not(HasSubstr("noise")));
}

// SEC-06
TEST_F(Distrust, ListsAreTakenOverAsFarAsTheyAreFitToBeShown) {
  ScriptedUpstream odd([](const boost::json::object& message) -> Reaction {
    if (message.at("method") != "tools/list") return small_lists(message).value();
    return std::string(R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[
      {"name":"a\u0000b","inputSchema":{"type":"object"}},{"name":"two words","inputSchema":{"type":"object"}},
      {"name":"good","inputSchema":{"type":"object"}},{"name":"good","inputSchema":{"type":"object"},"title":"again"},
      {"name":"bad","inputSchema":"string"},{"description":"no name"},7]})");
  });
  TestGateway other({upstream_at("odd", odd.port())});
  other.discover();
  EXPECT_THAT(other.tools(), ElementsAre("odd_good"));
  EXPECT_FALSE(other.status("odd").omissions.empty());
}

boost::asio::awaitable<server::Outcome<server::ToolResult>> report(server::Context& context, std::atomic<int>& inside,
                                                                   const std::atomic<bool>& go) {
  const std::string who(context.arguments().at("who").as_string());
  ++inside;
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  for (int i = 1; i <= 5; ++i) {
    while (!go) {
      timer.expires_after(std::chrono::milliseconds(1));
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    context.progress(i, 5, who);
  }
  co_return server::ToolResult::text(who);
}

// PRX-14
TEST(Progress, ComesInOneLineEachHoweverTheUpstreamBreaksThem) {
  ScriptedUpstream upstream([](const boost::json::object& message) -> Reaction {
    if (message.at("method") != "tools/call") return small_lists(message).value();
    const std::string id = boost::json::serialize(message.at("id"));
    const std::string token = boost::json::serialize(message.at("params").at("_meta").at("progressToken"));
    return Reaction::events(
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\ndata: \"params\":{\"progressToken\":" +
        token + ",\ndata: \"progress\":1}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":" + id +
        ",\"result\":{\ndata: \"content\":[\ndata: "
        "{\"type\":\"text\",\"text\":\"done\"}],\"resultType\":\"complete\"}}\n\n");
  });
  TestGateway gateway({upstream_at("up", upstream.port())}, {.workers = 1});
  gateway.discover();
  const auto call = [&] {
    return RawClient(gateway.port())
        .request("POST", modern_fields("tools/call", "up_tool"),
                 rpc("1", "tools/call",
                     R"("name":"up_tool","arguments":{},)" + modern_meta("{}", R"(,"progressToken":"mine")")));
  };
  // Over a new connection to the upstream, the answer is a stream; over an idle one, it comes in one piece.
  auto answer = call();
  for (int calls = 1; answer.body.empty() && calls < 20; ++calls)
    answer = call();
  std::vector<boost::json::value> messages;
  std::istringstream lines(answer.body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("data: ")) messages.push_back(boost::json::parse(line.substr(6)));
  }
  ASSERT_EQ(messages.size(), 2U) << answer.body;
  EXPECT_EQ(messages[0].at("params").at("progressToken"), "mine");
  EXPECT_EQ(server::text_of(messages[1]), "done");
}

// PRX-14
TEST(Progress, OfTwoCallersWithTheSameTokenReachesEachItsOwn) {
  std::atomic<int> inside = 0;
  std::atomic<bool> go = false;
  Upstream upstream;
  server::add_async_tool(upstream.server, {.name = "report"}, [&](server::Context& context) {
    return report(context, inside, go);
  }).value();
  TestGateway gateway({upstream_at("up", upstream.port)});
  gateway.discover();
  RawClient clients[] = {RawClient(gateway.port()), RawClient(gateway.port()), RawClient(gateway.port())};
  const std::array<std::string, 3> names = {"ada", "bob", "eve"};
  for (std::size_t i = 0; i < 3; ++i) {
    clients[i].send_request("POST", modern_fields("tools/call", "up_report"),
                            rpc("1", "tools/call",
                                fmt::format(R"("name":"up_report","arguments":{{"who":"{}"}},)", names[i]) +
                                    modern_meta("{}", R"(,"progressToken":"same")")));
  }
  wait_until([&] { return inside == 3; });
  go = true;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(clients[i].read_answer().field("content-type"), "text/event-stream");
    for (int step = 1; step <= 5; ++step) {
      const auto event = clients[i].read_event()->json();
      ASSERT_EQ(event.at("method"), "notifications/progress");
      EXPECT_EQ(event.at("params").at("progressToken"), "same");
      EXPECT_EQ(event.at("params").at("progress"), step);
      EXPECT_EQ(event.at("params").at("message"), boost::json::string(names[i]));
    }
    EXPECT_EQ(server::text_of(clients[i].read_event()->json()), names[i]);
    EXPECT_FALSE(clients[i].read_event());
  }
}

}  // namespace
}  // namespace proteus::gateway
