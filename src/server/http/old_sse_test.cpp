#include <atomic>
#include <future>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "server/api/registered_service.hpp"
#include "server/testing/old_client.hpp"
#include "server/testing/process.hpp"

namespace proteus::server {
namespace {

class OldSseServer : public ::testing::Test {
 protected:
  OldSseServer() : server({.name = "test", .version = "1"}) {
    server.add_tool({.name = "echo"}, [](Context&) { return ToolResult::text("echoed"); }).value();
    server
        .add_tool({.name = "ask"},
                  [](Context& context) -> Outcome<ToolResult> {
                    if (context.answer("roots") == nullptr) return Ask().roots("roots");
                    return ToolResult::text("asked");
                  })
        .value();
    add_async_tool(server, {.name = "wait"}, [this](Context& context) { return wait(context); }).value();
    HttpOptions options;
    options.old_sse_path = "/sse";
    options.max_body = std::size_t{8} << 20U;
    options.grace = std::chrono::seconds(1000);
    options.authenticate = [](std::string_view authorization) -> Result<std::string> {
      return std::string(authorization);
    };
    port = server.listen(options).value();
  }
  ~OldSseServer() override { go = true; }

  boost::asio::awaitable<Outcome<ToolResult>> wait(Context& context) {
    context.progress(1);
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    try {
      while (!go) {
        timer.expires_after(std::chrono::milliseconds(1));
        co_await timer.async_wait(boost::asio::use_awaitable);
      }
    } catch (...) {
      cancelled = true;
      cancelled.notify_all();
      throw;
    }
    co_return ToolResult::text("done");
  }
  static std::string wait_call() { return rpc("5", "tools/call", R"("name":"wait","_meta":{"progressToken":"p"})"); }

  std::atomic<bool> go = false;
  std::atomic<bool> cancelled = false;
  Server server;
  std::uint16_t port = 0;
};

// PRO-22
TEST_F(OldSseServer, NamesTheUrlToPostToAndAnswersOnTheStream) {
  OldClient client(port);
  EXPECT_EQ(client.head.field("content-type"), "text/event-stream");
  EXPECT_EQ(client.first.name, "endpoint");
  EXPECT_TRUE(client.first.data.starts_with("/sse?session=")) << client.first.data;
  EXPECT_GT(client.first.data.size(), std::string_view("/sse?session=").size() + 30);
  EXPECT_EQ(client.initialize().at("result").at("protocolVersion"), "2024-11-05");
  EXPECT_EQ(client.post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status, 202);
  EXPECT_EQ(text_of(client.ask(rpc("\"a\"", "tools/call", R"("name":"echo")"))), "echoed");
  EXPECT_EQ(client.ask(rpc("2", "ping", "")).at("id"), 2);
  EXPECT_EQ(code_of(client.ask(rpc("3", "initialize", ""))), -32600);
}

// PRO-22, PRO-02
TEST_F(OldSseServer, NegotiatesAnyRevisionWithAHandshake) {
  for (const std::string version : {"2025-11-25", "2025-03-26"})
    EXPECT_EQ(OldClient(port).initialize(version).at("result").at("protocolVersion").as_string(), version);
}

// PRO-22
TEST_F(OldSseServer, WantsTheHandshakeFirst) {
  OldClient client(port);
  EXPECT_EQ(code_of(client.ask(rpc("1", "tools/list", ""))), -32600);
  EXPECT_EQ(client.ask(rpc("2", "ping", "")).at("id"), 2);
}

// PRO-22, SEC-05: the URL is useless to another caller.
TEST_F(OldSseServer, AStreamBelongsToWhoOpenedIt) {
  OldClient client(port, "Authorization: ada\r\n");
  EXPECT_EQ(client.post_as("Authorization: eve\r\n", rpc("1", "ping", "")).status, 404);
  EXPECT_EQ(client.post_as("", rpc("1", "ping", "")).status, 404);
  EXPECT_EQ(client.ask(rpc("2", "ping", "")).at("id"), 2);
  RawClient guess(port, "/sse?session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  EXPECT_EQ(guess.request("POST", "Authorization: ada\r\n", rpc("1", "ping", "")).status, 404);
}

// PRO-22, PRO-11
TEST_F(OldSseServer, RefusesForeignPagesAndHosts) {
  EXPECT_EQ(OldClient(port, "Origin: https://evil.example\r\n").head.status, 403);
  EXPECT_EQ(OldClient(port, "Host: evil.example\r\n").head.status, 403);
  EXPECT_EQ(OldClient(port, "Origin: http://localhost:5173\r\n").head.field("access-control-allow-origin"),
            "http://localhost:5173");
}

// PRO-22, PRO-16
TEST_F(OldSseServer, SaysWhatIsWrongWithARequest) {
  RawClient path(port, "/sse");
  const auto posted = path.request("POST", "", rpc("1", "initialize", ""));
  EXPECT_EQ(posted.status, 405) << "clients that try Streamable HTTP first go on to GET";
  EXPECT_EQ(posted.field("allow"), "GET, OPTIONS");
  EXPECT_EQ(OldClient(port, "Accept: text/html\r\n").head.status, 406);
  OldClient client(port);
  EXPECT_EQ(client.post("{").status, 400);
  EXPECT_EQ(client.post("[]").status, 400);
  EXPECT_EQ(client.post_as("Content-Type: text/plain\r\n", "{}").status, 415);
  RawClient url(port, client.first.data);
  EXPECT_EQ(url.request("GET", "").field("allow"), "POST, OPTIONS");
}

// PRO-22, PRO-08
TEST_F(OldSseServer, ReportsAsksAndTellsOfChangesOnTheStream) {
  OldClient client(port);
  client.initialize("2024-11-05", R"({"roots":{}})");
  const auto question = client.ask(rpc("1", "tools/call", R"("name":"ask")"));
  EXPECT_EQ(question.at("method"), "roots/list");
  EXPECT_EQ(text_of(client.ask(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"roots":[]}}}})",
                                           boost::json::serialize(question.at("id"))))),
            "asked");
  EXPECT_EQ(client.ask(wait_call()).at("method"), "notifications/progress");
  go = true;
  EXPECT_EQ(text_of(client.next()), "done");
  server.remove_tool("echo");
  EXPECT_EQ(client.next().at("method"), "notifications/tools/list_changed");
}

// PRO-22, PRO-09
TEST_F(OldSseServer, ARequestIsCancelledByItsNotification) {
  OldClient client(port);
  client.initialize();
  client.ask(wait_call());
  client.post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})");
  cancelled.wait(false);
  EXPECT_EQ(client.ask(rpc("6", "ping", "")).at("id"), 6) << "and nothing is answered in its place";
}

// PRO-22, SEC-03: a POST is answered at once, so connections do not limit what one client has under way.
TEST_F(OldSseServer, HoldsABoundedPartOfWhatAClientPosts) {
  OldClient client(port);
  client.initialize();
  const auto large = [](std::string_view id) {
    return rpc(id, "tools/call",
               fmt::format(R"("name":"wait","arguments":{{"text":"{}"}})", std::string(3'000'000, 'x')));
  };
  EXPECT_EQ(client.post(large("1")).status, 202);
  const auto refused = client.post(large("2"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.json().at("id"), 2);
  EXPECT_EQ(client.ask(rpc("3", "ping", "")).at("id"), 3) << "what is short goes on";
  int taken = 0;
  while (taken < 300 &&
         client.post(rpc(fmt::format("{}", 1000 + taken), "tools/call", R"("name":"wait")")).status == 202)
    ++taken;
  EXPECT_EQ(taken, 255);
  go = true;
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(text_of(client.next()), "done");
  EXPECT_EQ(client.post(large("2")).status, 202);
}

// PRO-22: the call that has asked would wait until its time is up.
TEST_F(OldSseServer, TakesALargeAnswerWhateverRequestsWait) {
  OldClient client(port);
  client.initialize("2024-11-05", R"({"roots":{}})");
  const std::string text(3'000'000, 'x');
  client.ask(rpc("1", "tools/call",
                 fmt::format(R"("name":"wait","arguments":{{"text":"{}"}},"_meta":{{"progressToken":"p"}})", text)));
  const auto question = client.ask(rpc("2", "tools/call", R"("name":"ask")"));
  const std::string answer =
      fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"roots":[],"_meta":{{"a":"{}{}"}}}}}})",
                  boost::json::serialize(question.at("id")), text, text);
  ASSERT_EQ(client.post(answer).status, 202);
  EXPECT_EQ(text_of(client.next()), "asked");
  go = true;
  EXPECT_EQ(text_of(client.next()), "done");
}

// PRO-22
TEST_F(OldSseServer, AClientThatLeavesEndsItsSession) {
  OldClient client(port);
  client.initialize();
  client.ask(wait_call());
  client.stream.close();
  cancelled.wait(false);
  while (client.post(rpc("7", "ping", "")).status == 202) {
  }
  EXPECT_EQ(client.post(rpc("7", "ping", "")).status, 404);
}

// AUT-04, OAU-10
TEST(OldSseStream, EndsWithItsCredentialsThoughItHasNoSession) {
  Listeners changes;
  RegisteredService service({.name = "test", .version = "1"}, {}, changes);
  MemoryRecords records;
  Process process("here", service, records);
  const auto expect_end = [](OldClient& client) {
    EXPECT_FALSE(client.stream.read_event());
    EXPECT_EQ(client.post(rpc("1", "ping", "")).status, 404);
  };
  OldClient ready(process.server.port());
  EXPECT_EQ(process.listeners.size(), 1U);
  ready.initialize();
  EXPECT_EQ(process.listeners.size(), 1U) << "the session in the place of the stream";
  OldClient expired(process.server.port());
  process.listeners.end_expired(Clock::Wall::max());
  expect_end(expired);
  OldClient revoked(process.server.port());
  process.listeners.end_of("mia", [](const Caller&) { return true; });
  expect_end(revoked);
  process.grant->withdraw();
  OldClient late(process.server.port());
  expect_end(late);
}

// PRO-22, OPS-02
TEST_F(OldSseServer, AServerThatStopsAnswersWhatRunsAndEndsTheStreams) {
  OldClient idle(port);
  OldClient ready(port);
  OldClient waiting(port);
  ready.initialize();
  waiting.initialize();
  waiting.ask(wait_call());
  auto stopped = std::async(std::launch::async, [this] { server.stop(); });
  EXPECT_FALSE(idle.stream.read_event());
  EXPECT_FALSE(ready.stream.read_event());
  go = true;
  EXPECT_EQ(text_of(waiting.next()), "done");
  EXPECT_FALSE(waiting.stream.read_event());
  stopped.get();
}

}  // namespace
}  // namespace proteus::server
