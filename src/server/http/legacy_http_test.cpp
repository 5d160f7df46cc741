#include <atomic>
#include <cerrno>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "server/testing/test_server.hpp"

namespace proteus::server {
namespace {

// Waits until the test sets the flag, which it polls on its own thread.
boost::asio::awaitable<void> until(const std::atomic<bool>& flag) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  while (!flag) {
    timer.expires_after(std::chrono::milliseconds(1));
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
}

boost::asio::awaitable<Outcome<ToolResult>> report_and_wait(Context& context, std::atomic<int>& started,
                                                            const std::atomic<bool>& go, std::atomic<bool>& cancelled) {
  context.progress(1);
  ++started;
  started.notify_all();
  try {
    co_await until(go);
  } catch (...) {
    cancelled = true;
    cancelled.notify_all();
    throw;
  }
  context.progress(2);
  co_return ToolResult::text("done");
}

boost::asio::awaitable<Outcome<ToolResult>> release_and_wait(Context& context, const std::atomic<bool>& go) {
  context.release_connection(std::chrono::milliseconds(5));
  co_await until(go);
  co_return ToolResult::text("released");
}

class LegacyHttp : public ::testing::Test {
 protected:
  LegacyHttp() : server({.name = "test", .version = "1"}) {
    server
        .add_tool({.name = "echo"},
                  [](Context& context) -> Outcome<ToolResult> { return ToolResult::json(context.arguments()); })
        .value();
    server
        .add_tool({.name = "ask"},
                  [](Context& context) -> Outcome<ToolResult> {
                    const auto* first = context.answer("first");
                    const auto* second = context.answer("second");
                    if (first == nullptr)
                      return Ask().elicit("first", "First?",
                                          {{"type", "object"}, {"properties", boost::json::object()}});
                    if (second == nullptr) return Ask().roots("second").remember("kept");
                    return ToolResult::text(std::string(context.state()) + ":" +
                                            std::string(first->at("action").as_string()) + ":" +
                                            std::to_string(second->at("roots").as_array().size()));
                  })
        .value();
    add_async_tool(server, {.name = "wait"}, [this](Context& context) {
      return report_and_wait(context, started, go, cancelled);
    }).value();
    add_async_tool(server, {.name = "release"}, [this](Context& context) {
      return release_and_wait(context, go);
    }).value();
    server
        .add_resource({.uri = "test://a", .name = "a"},
                      [](Context&) -> Outcome<ResourceResult> { return ResourceResult{}; })
        .value();
    port = server.listen().value();
  }
  ~LegacyHttp() override { go = true; }

  RawClient::Answer delete_session(const std::string& session) {
    RawClient client(port);
    return client.request("DELETE", fmt::format("Mcp-Session-Id: {}\r\n", session));
  }
  void start_wait(LegacyClient& client) {
    client.client.send_request("POST", client.fields(),
                               rpc("5", "tools/call", R"("name":"wait","_meta":{"progressToken":"p"})"));
  }

  std::atomic<int> started = 0;
  std::atomic<bool> go = false;
  std::atomic<bool> cancelled = false;
  Server server;
  std::uint16_t port = 0;
};

// PRO-02, PRO-22
TEST_F(LegacyHttp, NegotiatesEachRevisionAndAnswersUnknownOnesWithTheNewest) {
  for (const std::string version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    EXPECT_EQ(LegacyClient(port, version).hello.at("result").at("protocolVersion").as_string(), version);
  }
  for (const std::string version : {"2026-07-28", "2024-10-07", "1999-01-01", ""}) {
    EXPECT_EQ(LegacyClient(port, version).hello.at("result").at("protocolVersion"), "2025-11-25");
  }
}

// PRO-01
TEST_F(LegacyHttp, ServesBothErasAtOnceOnOneEndpoint) {
  LegacyClient legacy(port);
  RawClient modern(port);
  EXPECT_EQ(legacy.call("1", "echo").status, 200);
  EXPECT_EQ(modern_call(modern, "echo").status, 200);
  // The same connection may carry both.
  EXPECT_EQ(modern_call(legacy.client, "echo").json().at("result").at("resultType"), "complete");
  EXPECT_FALSE(legacy.call("2", "echo").json().at("result").as_object().contains("resultType"));
}

TEST_F(LegacyHttp, AnswersPingWithExactlyAnEmptyObject) {
  LegacyClient client(port);
  EXPECT_EQ(client.post(rpc("9", "ping", "")).body, R"({"jsonrpc":"2.0","id":9,"result":{}})");
}

// PRO-06
TEST_F(LegacyHttp, TellsMissingAndUnknownSessionsApart) {
  RawClient client(port);
  EXPECT_EQ(client.request("POST", "", rpc("1", "tools/list", "")).status, 400);
  EXPECT_EQ(client.request("POST", "Mcp-Session-Id: nope\r\n", rpc("1", "tools/list", "")).status, 404);
  EXPECT_EQ(client.request("GET", "").status, 400);
  EXPECT_EQ(client.request("GET", "Mcp-Session-Id: nope\r\n").status, 404);

  LegacyClient legacy(port);
  EXPECT_EQ(legacy.post(rpc("1", "tools/list", "")).status, 200);
  EXPECT_EQ(delete_session(legacy.session).status, 200);
  EXPECT_EQ(legacy.post(rpc("1", "tools/list", "")).status, 404);
  EXPECT_EQ(delete_session(legacy.session).status, 404);
}

TEST_F(LegacyHttp, RefusesAVersionHeaderItDoesNotSpeak) {
  LegacyClient client(port);
  EXPECT_EQ(client.client
                .request("POST", client.fields() + "MCP-Protocol-Version: 1999-01-01\r\n", rpc("1", "tools/list", ""))
                .status,
            400);
  EXPECT_EQ(client.client
                .request("POST", client.fields() + "MCP-Protocol-Version: 2025-06-18\r\n", rpc("1", "tools/list", ""))
                .status,
            200);
}

// PRO-06
TEST_F(LegacyHttp, PrimesTheAnswersOfTheOneRevisionThatKnowsIt) {
  go = true;
  for (const auto* const version : {"2025-11-25", "2025-06-18", "2024-11-05"}) {
    LegacyClient client(port, version);
    start_wait(client);
    client.client.read_answer();
    EXPECT_EQ(client.client.read_event()->data.empty(), version == std::string_view("2025-11-25")) << version;
  }
}

TEST_F(LegacyHttp, AsksOnTheCallsStreamOverSeveralRounds) {
  LegacyClient client(port, "2025-11-25", R"({"elicitation":{},"roots":{}})");
  client.client.send_request("POST", client.fields(), rpc("5", "tools/call", R"("name":"ask")"));
  EXPECT_EQ(client.client.read_answer().field("content-type"), "text/event-stream");
  EXPECT_EQ(client.client.read_event()->data, "");  // the priming event
  RawClient answers(port);
  const auto first = client.client.read_event()->json();
  EXPECT_EQ(first.at("method"), "elicitation/create");
  EXPECT_EQ(first.at("params").at("_meta").at("proteus/inputKey"), "first");
  const auto answer = [&](const boost::json::value& request, std::string_view result) {
    return answers
        .request("POST", client.fields(),
                 fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", request.at("id").as_int64(), result))
        .status;
  };
  EXPECT_EQ(answer(first, R"({"action":"decline"})"), 202);
  const auto second = client.client.read_event()->json();
  EXPECT_EQ(second.at("method"), "roots/list");
  EXPECT_EQ(answer(second, R"({"roots":[{"uri":"file:///"}]})"), 202);
  EXPECT_EQ(text_of(client.client.read_event()->json()), "kept:decline:1");
  EXPECT_FALSE(client.client.read_event());
}

TEST_F(LegacyHttp, DoesNotAskAClientThatDeclaredNothing) {
  LegacyClient client(port);
  const auto answer = client.call("1", "ask").json();
  EXPECT_EQ(answer.at("result").at("isError"), true);
}

// PRO-08
TEST_F(LegacyHttp, SendsChangesToTheGetStream) {
  LegacyClient client(port);
  client.post(rpc("1", "resources/subscribe", R"("uri":"test://a")"));
  RawClient stream(port);
  stream.send_request("GET", client.fields());
  const auto head = stream.read_answer();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("x-accel-buffering"), "no");  // PRO-18
  server.remove_tool("echo");
  // No event without data comes first: the specification requires one only for answers to POST, and clients that
  // connect would report one here as an error.
  EXPECT_EQ(stream.read_event()->json().at("method"), "notifications/tools/list_changed");
  server.resource_updated("test://b");
  server.resource_updated("test://a");
  EXPECT_EQ(stream.read_event()->json().at("params").at("uri"), "test://a");
  client.post(rpc("2", "resources/unsubscribe", R"("uri":"test://a")"));
  server.resource_updated("test://a");
  server.remove_tool("ask");
  EXPECT_EQ(stream.read_event()->json().at("method"), "notifications/tools/list_changed");
}

// SEC-03: what a client subscribes to is kept with its session.
TEST_F(LegacyHttp, SubscribesToNoUriOfAnyLength) {
  LegacyClient client(port);
  const auto subscribe = [&](std::size_t length) {
    return client.post(rpc("1", "resources/subscribe", fmt::format(R"("uri":"{}")", std::string(length, 'u')))).json();
  };
  EXPECT_TRUE(subscribe(8'000).as_object().contains("result"));
  EXPECT_EQ(code_of(subscribe(9'000)), -32002);
}

// PRO-06: the client is to come back for the rest, so it must get everything before the end of the connection.
TEST_F(LegacyHttp, ReleasesAConnectionInGoodOrder) {
  LegacyClient client(port);
  client.client.send_request("POST", client.fields(), rpc("5", "tools/call", R"("name":"release")"));
  client.client.read_answer();
  const auto first = client.client.read_event();
  EXPECT_FALSE(client.client.read_event());
  EXPECT_EQ(client.client.retry(), "5");
  errno = 0;
  EXPECT_TRUE(client.client.closed());
  EXPECT_NE(errno, ECONNRESET);
  go = true;
  RawClient resumed(port);
  resumed.send_request("GET", client.fields() + "Last-Event-ID: " + first->id + "\r\n");
  resumed.read_answer();
  EXPECT_EQ(text_of(resumed.read_event()->json()), "released");
}

// PRO-16
TEST_F(LegacyHttp, TheConnectionIsGoodForMoreAfterAStreamedAnswer) {
  LegacyClient client(port);
  go = true;
  for (int round = 0; round < 3; ++round) {
    start_wait(client);
    EXPECT_EQ(client.client.read_answer().field("connection"), "");
    while (client.client.read_event()) {
    }
    EXPECT_EQ(client.post(rpc("6", "ping", "")).status, 200);
  }
}

// PRO-09
TEST_F(LegacyHttp, ADroppedConnectionCancelsNothingAndTheStreamCanBeResumed) {
  LegacyClient client(port);
  start_wait(client);
  client.client.read_answer();
  client.client.read_event();
  const auto progress = client.client.read_event();
  EXPECT_EQ(progress->json().at("params").at("progress"), 1);
  client.client.close();
  go = true;

  // Only that stream, only what is missing, in order, once.
  RawClient resumed(port);
  resumed.send_request("GET", client.fields() + "Last-Event-ID: " + progress->id + "\r\n");
  EXPECT_EQ(resumed.read_answer().status, 200);
  EXPECT_EQ(resumed.read_event()->json().at("params").at("progress"), 2);
  EXPECT_EQ(text_of(resumed.read_event()->json()), "done");
  EXPECT_FALSE(resumed.read_event());
  EXPECT_FALSE(cancelled);
}

// PRO-06
TEST_F(LegacyHttp, ResumesFromAnyPointOfAStream) {
  LegacyClient client(port);
  go = true;
  start_wait(client);
  client.client.read_answer();
  std::vector<RawClient::Event> events;
  while (auto event = client.client.read_event())
    events.push_back(*event);
  ASSERT_EQ(events.size(), 4U);
  for (std::size_t last = 0; last < events.size(); ++last) {
    RawClient resumed(port);
    resumed.send_request("GET", client.fields() + "Last-Event-ID: " + events[last].id + "\r\n");
    resumed.read_answer();
    for (std::size_t next = last + 1; next < events.size(); ++next)
      EXPECT_EQ(resumed.read_event()->data, events[next].data);
    EXPECT_FALSE(resumed.read_event());
  }
  RawClient unknown(port);
  EXPECT_EQ(unknown.request("GET", client.fields() + "Last-Event-ID: 99-1\r\n").status, 400);
  EXPECT_EQ(unknown.request("GET", client.fields() + "Last-Event-ID: x\r\n").status, 400);
}

// PRO-09
TEST_F(LegacyHttp, ACancelledNotificationStopsTheWork) {
  LegacyClient client(port);
  start_wait(client);
  client.client.read_answer();
  client.client.read_event();
  client.client.read_event();
  RawClient other(port);
  EXPECT_EQ(other
                .request("POST", client.fields(),
                         R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})")
                .status,
            202);
  cancelled.wait(false);
  EXPECT_FALSE(client.client.read_event());  // no answer to a cancelled request
}

TEST_F(LegacyHttp, EndingASessionCancelsWhatRunsInIt) {
  LegacyClient client(port);
  start_wait(client);
  client.client.read_answer();
  client.client.read_event();
  client.client.read_event();
  LegacyClient plain(port);
  plain.client.send_request("POST", plain.fields(), rpc("6", "tools/call", R"("name":"wait")"));
  EXPECT_EQ(delete_session(client.session).status, 200);
  cancelled.wait(false);
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(code_of(client.client.read_event()->json()), -32603);
  EXPECT_FALSE(client.client.read_event());
  for (int count = started; count < 2; count = started)
    started.wait(count);
  EXPECT_EQ(delete_session(plain.session).status, 200);
  const auto answer = plain.client.read_answer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(code_of(answer.json()), -32603);
}

// PRO-16
TEST_F(LegacyHttp, TakesBatchesInTheOneRevisionThatHasThem) {
  const std::string batch = "[" + rpc("1", "ping", "") + R"(,{"jsonrpc":"2.0","method":"notifications/initialized"},)" +
                            rpc("\"b\"", "tools/call", R"("name":"echo")") + ",7]";
  LegacyClient old(port, "2025-03-26");
  old.client.send_request("POST", old.fields(), batch);
  EXPECT_EQ(old.client.read_answer().status, 200);
  EXPECT_EQ(old.client.read_event()->json().at("id"), 1);
  EXPECT_EQ(old.client.read_event()->json().at("id"), "b");
  EXPECT_EQ(code_of(old.client.read_event()->json()), -32600);
  EXPECT_FALSE(old.client.read_event());

  LegacyClient newer(port, "2025-06-18");
  EXPECT_EQ(newer.post(batch).status, 400);
  RawClient modern(port);
  EXPECT_EQ(modern.request("POST", modern_fields("ping"), batch).status, 400);
}

// PRO-09
TEST_F(LegacyHttp, ACancelledNotificationStopsOneRequestOfABatch) {
  LegacyClient client(port, "2025-03-26");
  client.client.send_request("POST", client.fields(),
                             "[" + rpc("1", "tools/call", R"("name":"wait","_meta":{"progressToken":"p"})") + "," +
                                 rpc("2", "tools/call", R"("name":"echo")") + "]");
  client.client.read_answer();
  EXPECT_EQ(client.client.read_event()->json().at("method"), "notifications/progress");
  RawClient other(port);
  other.request("POST", client.fields(),
                R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_EQ(client.client.read_event()->json().at("id"), 2);
  EXPECT_FALSE(client.client.read_event());
  EXPECT_TRUE(cancelled);
}

TEST_F(LegacyHttp, AnIdInUseIsRefused) {
  LegacyClient client(port);
  start_wait(client);
  client.client.read_answer();
  client.client.read_event();
  RawClient other(port);
  EXPECT_EQ(other.request("POST", client.fields(), rpc("5", "tools/call", R"("name":"echo")")).status, 400);
  EXPECT_EQ(other.request("POST", client.fields(), rpc("\"5\"", "tools/call", R"("name":"echo")")).status, 200);
}

}  // namespace
}  // namespace proteus::server
