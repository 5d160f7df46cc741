#include <future>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/testing/http_test_server.hpp"
#include "net/testing/plain_requests.hpp"

// Memory for requests that are being read.
namespace proteus::net {
namespace {

constexpr std::string_view kLargeBody = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n";

Task<> read_as_stranger(Exchange& exchange) {
  const std::string_view method = exchange.request().method();  // valid while the exchange lives
  const auto standing = exchange.request().path() == "/known" ? Standing::known : Standing::stranger;
  if (!co_await exchange.read_body(standing)) co_return;
  const std::string text = fmt::format("{} {}", method, exchange.request().body().size());
  co_await exchange.reply({}, text);
}

// SEC-03
TEST(HttpServer, BoundsTheMemoryOfStrangersInAll) {
  HttpServerOptions options;
  options.limits.head_bytes = 4096;
  options.limits.body_bytes = 60'000;
  options.limits.stranger_bytes = 200'000;
  TestServer server(read_as_stranger, options, 1, TestServer::Calls::with_heads);
  {
    std::vector<RawClient> strangers;
    for (int i = 0; i < 3; ++i) {
      strangers.push_back(server.connect());
      strangers.back().send(kLargeBody);
      strangers.back().send(std::string(10'000, 'x'));
    }
    while (server.server().memory().taken(Standing::stranger) < 180'000)
      std::this_thread::yield();
    auto refused = server.connect();
    refused.send(kLargeBody);
    refused.send(std::string(10'000, 'x'));
    const Answer answer = refused.receive();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(RawClient::field(answer, "Connection"), "close");
    auto known = server.connect();
    known.send("POST /known HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n");
    known.send(std::string(60'000, 'x'));
    EXPECT_EQ(known.receive().body, "POST 60000");
    auto small = server.connect();
    small.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nsmall");
    EXPECT_EQ(small.receive().body, "POST 5");
    strangers.front().send(std::string(50'000, 'x'));
    EXPECT_EQ(strangers.front().receive().body, "POST 60000");
  }
  while (server.server().memory().taken(Standing::stranger) > 0)
    std::this_thread::yield();
}

HttpServerOptions with_room_for_four_heads() {
  HttpServerOptions options;
  options.limits.head_bytes = 32'768;
  options.limits.body_bytes = 32'768;
  options.limits.stranger_bytes = 131'072;
  return options;
}

// SEC-03: who a caller is can be known only once the head is there.
TEST(HttpServer, ReadsALargeHeadHoweverManyHeadsNeverEnd) {
  TestServer server(test::echo, with_room_for_four_heads());
  const std::string head = "GET /hello HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x');
  std::vector<RawClient> waiting;
  for (std::size_t i = 1; i <= 4; ++i) {
    waiting.push_back(server.connect());
    waiting.back().send(head);
    while (server.server().memory().taken(Standing::stranger) < i * 32'768)
      std::this_thread::yield();
  }
  auto next = server.connect();
  next.send(head + "\r\n\r\n");
  EXPECT_EQ(next.receive().status, 200);
  EXPECT_EQ(waiting.front().receive().status, 503) << "the oldest gives way";
  EXPECT_TRUE(waiting.front().at_end());
  for (std::size_t i = 1; i < 4; ++i) {
    waiting[i].send("\r\n\r\n");
    EXPECT_EQ(waiting[i].receive().status, 200);
  }
}

// SEC-03
TEST(HttpServer, ReadsALargeHeadHoweverManyWereRefusedBefore) {
  TestServer server([](Exchange& exchange) -> Task<> { co_await exchange.reply({.status = 401}, "who?"); },
                    with_room_for_four_heads(), 1, TestServer::Calls::with_heads);
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x') + "\r\nContent-Length: ";
  std::vector<RawClient> refused;
  for (int i = 0; i < 10; ++i) {
    refused.push_back(server.connect());
    refused.back().send(head + (i % 2 == 0 ? "0" : "10") + "\r\n\r\n");
    EXPECT_EQ(refused.back().receive().status, 401);
  }
}

struct Held {
  std::promise<void> read;
  std::promise<void> done;
};

Task<> hold_as_known(Exchange& exchange, Held& held) {
  EXPECT_TRUE(co_await exchange.read_body(Standing::known));
  held.read.set_value();
  held.done.get_future().wait();
  co_await exchange.reply({}, "ok");
}

// SEC-03
TEST(HttpServer, ChargesStrangersForNothingThatAKnownCallerSent) {
  Held held;
  TestServer server([&](Exchange& exchange) { return hold_as_known(exchange, held); });
  auto client = server.connect();
  client.send("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
  held.read.get_future().wait();
  EXPECT_EQ(server.server().memory().taken(Standing::stranger), 0U);
  EXPECT_GE(server.server().memory().taken(Standing::known), 20'000U);
  held.done.set_value();
  EXPECT_EQ(client.receive().body, "ok");
}

// SEC-03: an earlier request on a connection does not say who sends the next one.
TEST(HttpServer, ChargesStrangersForAHeadAfterTheRequestOfAKnownCaller) {
  TestServer server(read_as_stranger, {}, 1, TestServer::Calls::with_heads);
  auto client = server.connect();
  client.send("POST /known HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nsmall");
  EXPECT_EQ(client.receive().body, "POST 5");
  client.send("POST /known HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x'));
  while (server.server().memory().taken(Standing::stranger) < 20'000)
    std::this_thread::yield();
  EXPECT_EQ(server.server().memory().taken(Standing::known), 0U);
}

}  // namespace
}  // namespace proteus::net
