#include <atomic>
#include <future>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "server/testing/test_server.hpp"

// A server that stops while clients of both eras listen and wait.
namespace proteus::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Drain : public ::testing::Test {
 protected:
  Drain() : server({.name = "test", .version = "1"}) {
    add_async_tool(server, {.name = "wait"}, [this](Context& context) { return wait(context); }).value();
  }
  ~Drain() override { go = true; }

  boost::asio::awaitable<Outcome<ToolResult>> wait(Context& context) {
    context.progress(1);
    if (++started == expected) all_started.set_value();
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    try {
      while (!go) {
        timer.expires_after(milliseconds(1));
        co_await timer.async_wait(boost::asio::use_awaitable);
      }
    } catch (...) {
      ++cancelled;
      throw;
    }
    co_return ToolResult::text("done");
  }

  void listen(milliseconds grace) { port = server.listen({.grace = grace}).value(); }
  std::future<void> stop() {
    return std::async(std::launch::async, [this] { server.stop(); });
  }
  static std::string wait_call(std::string_view id, std::string_view more = {}) {
    return rpc(id, "tools/call", fmt::format(R"("name":"wait"{})", more));
  }

  std::atomic<bool> go = false;
  std::atomic<int> started = 0;
  std::atomic<int> cancelled = 0;
  int expected = 1;
  std::promise<void> all_started;
  Server server;
  std::uint16_t port = 0;
};

// OPS-02
TEST_F(Drain, EndsWhatListensAtOnceAndLetsCallsOfBothErasFinish) {
  expected = 4;
  listen(seconds(1000));
  LegacyClient plain(port);
  LegacyClient streaming(port);
  LegacyClient batch(port, "2025-03-26");
  RawClient modern(port);
  plain.client.send_request("POST", plain.fields(), wait_call("1"));
  streaming.client.send_request("POST", streaming.fields(), wait_call("1", R"(,"_meta":{"progressToken":"p"})"));
  batch.client.send_request("POST", batch.fields(), "[" + wait_call("1") + "]");
  modern.send_request("POST", modern_fields("tools/call", "wait"), wait_call("1", "," + modern_meta()));
  all_started.get_future().wait();
  RawClient listening(port);
  listening.send_request("GET", plain.fields());
  EXPECT_EQ(listening.read_answer().status, 200);
  streaming.client.read_answer();
  const auto last_seen = streaming.client.read_event()->id;
  RawClient resumed(port);
  resumed.send_request("GET", streaming.fields() + fmt::format("Last-Event-ID: {}\r\n", last_seen));
  EXPECT_EQ(resumed.read_answer().status, 200);
  EXPECT_EQ(resumed.read_event()->json().at("method"), "notifications/progress");

  auto stopped = stop();
  EXPECT_FALSE(listening.read_event());
  EXPECT_EQ(cancelled, 0);
  go = true;
  EXPECT_EQ(text_of(plain.client.read_answer().json()), "done");
  EXPECT_EQ(text_of(resumed.read_event()->json()), "done");
  EXPECT_FALSE(resumed.read_event());
  batch.client.read_answer();
  EXPECT_EQ(text_of(batch.client.read_event()->json()), "done");
  EXPECT_EQ(text_of(modern.read_answer().json()), "done");
  for (auto* client : {&plain.client, &streaming.client, &batch.client, &modern, &listening, &resumed})
    client->close();
  stopped.wait();
  EXPECT_EQ(cancelled, 0);
}

// OPS-02
TEST_F(Drain, CancelsCallsOfBothErasAfterTheGraceTime) {
  expected = 3;
  listen(milliseconds(50));
  LegacyClient legacy(port);
  LegacyClient batch(port, "2025-03-26");
  RawClient modern(port);
  legacy.client.send_request("POST", legacy.fields(), wait_call("1"));
  batch.client.send_request("POST", batch.fields(), "[" + wait_call("1") + "," + wait_call("2") + "]");
  modern.send_request("POST", modern_fields("tools/call", "wait"), wait_call("1", "," + modern_meta()));
  all_started.get_future().wait();
  stop().wait();
  EXPECT_FALSE(go);
  EXPECT_GE(cancelled, 3);
}

// OPS-02: the timer of a session's stream must not outlive the threads of the server.
TEST_F(Drain, EndsAStreamOfASessionThatBeganMeanwhile) {
  listen(seconds(1000));
  LegacyClient before(port);
  RawClient listening(port);
  listening.send_request("GET", before.fields());
  EXPECT_EQ(listening.read_answer().status, 200);
  // Both requests are at the server before it stops, except for their last lines.
  const std::string hello =
      rpc("0", "initialize",
          R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})");
  const std::string host = fmt::format("Host: 127.0.0.1:{}\r\nAccept: application/json, text/event-stream\r\n", port);
  RawClient session(port);
  session.send(fmt::format("POST /mcp HTTP/1.1\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", host,
                           hello.size()));
  RawClient stream(port);
  stream.send("GET /mcp HTTP/1.1\r\n" + host);
  EXPECT_EQ(before.post(rpc("1", "ping", "")).status, 200);

  auto stopped = stop();
  EXPECT_FALSE(listening.read_event());
  session.send(hello);
  const auto welcome = session.read_answer();
  EXPECT_EQ(welcome.status, 200);
  stream.send(fmt::format("Mcp-Session-Id: {}\r\n\r\n", welcome.field("mcp-session-id")));
  EXPECT_EQ(stream.read_answer().status, 200);
  EXPECT_FALSE(stream.read_event());
  for (auto* client : {&before.client, &listening, &session, &stream})
    client->close();
  stopped.wait();
}

// OPS-02, PRO-05
TEST_F(Drain, EndsAListenStreamThatBeganMeanwhile) {
  listen(seconds(1000));
  LegacyClient before(port);
  RawClient listening(port);
  listening.send_request("GET", before.fields());
  EXPECT_EQ(listening.read_answer().status, 200);
  const std::string body =
      rpc("7", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta());
  // The request is at the server before it stops, except for its body.
  RawClient modern(port);
  modern.send(
      fmt::format("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAccept: application/json, text/event-stream\r\n"
                  "{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                  port, modern_fields("subscriptions/listen"), body.size()));
  EXPECT_EQ(before.post(rpc("1", "ping", "")).status, 200);

  auto stopped = stop();
  EXPECT_FALSE(listening.read_event());
  modern.send(body);
  EXPECT_EQ(modern.read_answer().status, 200);
  EXPECT_EQ(modern.read_event()->json().at("method"), "notifications/subscriptions/acknowledged");
  EXPECT_EQ(modern.read_event()->json().at("method"), "notifications/cancelled");
  EXPECT_EQ(modern.read_event()->json().at("id"), 7);
  EXPECT_FALSE(modern.read_event());
  for (auto* client : {&before.client, &listening, &modern})
    client->close();
  stopped.wait();
}

}  // namespace
}  // namespace proteus::server
