#include <atomic>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "net/testing/http_test_server.hpp"

// SEC-03: no client can hold a connection or memory by being slow. The tests move the time themselves.
namespace proteus::net {
namespace {

using std::chrono::seconds;

Task<> ok(Exchange& exchange) { co_await exchange.reply({}, "ok"); }

// SEC-03
TEST(HttpDeadline, ClosesAConnectionThatNeverAsks) {
  TestServer server(ok);
  auto client = server.connect();
  server.wait_for_connections(1);
  server.advance(seconds(9));
  server.advance(seconds(2));
  EXPECT_TRUE(client.at_end());
}

// SEC-03
TEST(HttpDeadline, ClosesAnIdleConnectionButNotBeforeItsTime) {
  TestServer server(ok);
  auto client = server.connect();
  client.send(test::kGet);
  EXPECT_EQ(client.receive().status, 200);
  server.advance(seconds(74));
  client.send(test::kGet);
  EXPECT_EQ(client.receive().status, 200);
  server.advance(seconds(76));
  EXPECT_TRUE(client.at_end());
}

// SEC-03
TEST(HttpDeadline, AnswersAHeadThatTrickles) {
  TestServer server(ok);
  auto client = server.connect();
  client.send("GET / HTTP/1.1\r\nHost: h\r\n");
  server.wait_for_connections(1);
  for (int i = 0; i < 12; ++i) {
    server.advance(seconds(1));
    client.send("X: y\r\n");
  }
  EXPECT_EQ(client.receive().status, 408);
  EXPECT_TRUE(client.at_end());
}

// SEC-03
TEST(HttpDeadline, GivesALaterHeadItsTimeFromItsFirstByte) {
  TestServer server(ok);
  auto client = server.connect();
  client.send(test::kGet);
  EXPECT_EQ(client.receive().status, 200);
  server.advance(seconds(60));
  client.send("GET / HT");
  client.send("TP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.receive().status, 200);
}

// SEC-03
TEST(HttpDeadline, AnswersABodyThatStops) {
  TestServer server(ok);
  auto client = server.connect();
  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  server.advance(seconds(29));
  client.send("hello");
  server.advance(seconds(31));
  EXPECT_EQ(client.receive().status, 408);
  EXPECT_TRUE(client.at_end());
}

// SEC-03
TEST(HttpDeadline, AnswersABodyThatTrickles) {
  TestServer server(ok);
  auto client = server.connect();
  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  for (int i = 0; i < 5; ++i) {
    server.advance(seconds(8));
    client.send("x");
  }
  EXPECT_EQ(client.receive().status, 408);
}

TEST(HttpDeadline, WaitsForALargeBodyThatKeepsComing) {
  TestServer server(ok);
  auto client = server.connect();
  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  for (int i = 0; i < 10; ++i) {
    client.send(std::string(100'000, 'x'));
    server.advance(seconds(9));
  }
  EXPECT_EQ(client.receive().status, 200);
}

Task<> stream_for_ever(Exchange& exchange) {
  const std::string part(64UL * 1024, 'x');
  co_await exchange.begin_stream({});
  while (co_await exchange.write(part))
    continue;
}

// SEC-03
TEST(HttpDeadline, CutsOffAClientThatDoesNotReadItsStream) {
  TestServer server(stream_for_ever);
  auto client = server.connect(4096);
  client.send(test::kGet);
  server.wait_for_connections(1);
  // The server writes until the client's buffers are full; only then does the deadline start.
  while (server.server().connections() == 1)
    server.advance(seconds(1));
}

TEST(HttpDeadline, LetsAHandlerTakeItsTime) {
  static std::atomic<bool> finish;
  finish = false;
  TestServer server([](Exchange& exchange) -> Task<> {
    while (!finish)
      co_await boost::asio::post(exchange.executor(), boost::asio::use_awaitable);
    co_await exchange.reply({}, "at last");
  });
  auto client = server.connect();
  client.send(test::kGet);
  server.advance(seconds(1000));
  finish = true;
  EXPECT_EQ(client.receive().body, "at last");
}

// SEC-03
TEST(HttpDeadline, WaitsOnlySoLongForTheClientToCloseAfterItsLastAnswer) {
  TestServer server(ok);
  auto client = server.connect();
  client.send("nonsense\r\n\r\n");
  EXPECT_EQ(client.receive().status, 400);
  EXPECT_TRUE(client.at_end());
  server.wait_for_connections(1);
  server.advance(seconds(3));
  server.wait_for_connections(0);
}

}  // namespace
}  // namespace proteus::net
