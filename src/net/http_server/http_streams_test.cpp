// Responses that are sent piece by piece.
#include <array>
#include <stdexcept>
#include <string_view>

#include <gtest/gtest.h>

#include "net/testing/http_test_server.hpp"
#include "net/testing/plain_requests.hpp"

namespace proteus::net {
namespace {

using test::kGetHello;

Task<> stream_three(Exchange& exchange) {
  co_await exchange.begin_stream({.content_type = "text/event-stream"});
  co_await exchange.write("one");
  co_await exchange.write("");
  const std::array<std::string_view, 2> parts = {"tw", "o"};
  co_await exchange.write(parts);
  co_await exchange.end_stream();
}

TEST(HttpServer, StreamsInChunksAndKeepsTheConnection) {
  TestServer server(stream_three);
  auto client = server.connect();
  for (int i = 0; i < 2; ++i) {
    client.send(kGetHello);
    const Answer head = client.receive(true);
    EXPECT_EQ(RawClient::field(head, "Transfer-Encoding"), "chunked");
    EXPECT_EQ(client.receive_chunk(), "one");
    EXPECT_EQ(client.receive_chunk(), "two");
    EXPECT_FALSE(client.receive_chunk());
  }
}

TEST(HttpServer, EndsAStreamForHttp10ByClosing) {
  TestServer server(stream_three);
  auto client = server.connect();
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const Answer answer = client.receive();
  EXPECT_EQ(answer.body, "onetwo");
  EXPECT_EQ(RawClient::field(answer, "Connection"), "close");
}

TEST(HttpServer, StreamsNothingToHead) {
  TestServer server(stream_three);
  auto client = server.connect();
  client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.receive(true).status, 200);
  client.send(kGetHello);
  EXPECT_EQ(client.receive().body, "onetwo");
}

TEST(HttpServer, EndsAStreamWithItsHandler) {
  TestServer server([](Exchange& exchange) -> Task<> {
    co_await exchange.begin_stream({});
    co_await exchange.write("part");
  });
  auto client = server.connect();
  client.send(kGetHello);
  EXPECT_EQ(client.receive().body, "part");
}

TEST(HttpServer, ShowsAStreamThatFailedAsCutOff) {
  TestServer server([](Exchange& exchange) -> Task<> {
    co_await exchange.begin_stream({});
    co_await exchange.write("part");
    throw std::runtime_error("on purpose");
  });
  auto client = server.connect();
  client.send(kGetHello);
  EXPECT_EQ(client.receive(true).status, 200);
  EXPECT_EQ(client.receive_chunk(), "part");
  EXPECT_TRUE(client.at_end());
}

}  // namespace
}  // namespace proteus::net
