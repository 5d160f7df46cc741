#include <future>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/http_server/http_connection.hpp"
#include "net/io/memory_stream.hpp"
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
TEST(HttpServer, ReadsALargeHeadHoweverManySmallerOnesNeverEnd) {
  TestServer server(test::echo, with_room_for_four_heads());
  std::vector<RawClient> waiting;
  for (int i = 0; i < 16; ++i) {
    waiting.push_back(server.connect());
    waiting.back().send("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(5'000, 'x'));
  }
  while (server.server().memory().taken(Standing::stranger) < 131'072)
    std::this_thread::yield();
  auto next = server.connect();
  next.send("GET /hello HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(next.receive().status, 200);
}

HttpLimits with_room_for_one_head() {
  HttpLimits limits;
  limits.head_bytes = 20'000;
  limits.body_bytes = 0;
  limits.stranger_bytes = 40'000;
  return limits;
}

// Two connections, driven by hand, whose heads have room one after the other only.
class TwoConnections : public testing::Test {
 protected:
  TwoConnections() {
    dependencies_.limits = with_room_for_one_head();
    dependencies_.memory = &memory_;
    dependencies_.refusals = &refusals_;
    for (Side* const side : {&first_, &second_}) {
      auto [client, server] = memory_streams(io_.get_executor());
      side->client = std::move(client);
      side->connection = std::make_shared<Connection>(dependencies_, std::move(server));
      boost::asio::co_spawn(io_, side->connection->run(), boost::asio::detached);
    }
    send_head(first_);
    io_.poll();
    send_head(second_);
  }
  ~TwoConnections() override {
    first_.client.close();
    second_.client.close();
    io_.restart();
    io_.poll();
  }

  struct Side {
    Stream client;
    std::shared_ptr<Connection> connection;
  };
  static void send_head(Side& side) {
    const std::string head = "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(17'000, 'x');
    const std::string_view part = head;
    EXPECT_EQ(side.client.try_write({&part, 1}).size, head.size());
  }
  static std::string answer_to(Side& side) {
    std::string answer(1000, '\0');
    answer.resize(side.client.try_read(answer).size);
    return answer.substr(0, answer.find("\r\n"));
  }
  void let_the_head_time_pass() { dependencies_.now += dependencies_.limits.head_time + std::chrono::seconds(1); }
  std::uint64_t refused() const { return refusals_.count(RefusalReason::limit); }

  boost::asio::io_context io_{1};
  SystemClock clock_;
  RefusalLog refusals_{clock_};
  HttpDependencies dependencies_;
  ReadMemory memory_{with_room_for_one_head()};
  Side first_;
  Side second_;
};

// SEC-03
TEST_F(TwoConnections, ASweepDoesNotRefuseAgainWhatGaveWay) {
  while (refused() == 0)
    ASSERT_GT(io_.poll_one(), 0U);
  let_the_head_time_pass();
  first_.connection->sweep();
  io_.poll();
  EXPECT_EQ(refused(), 1U);
  EXPECT_EQ(answer_to(first_), "HTTP/1.1 503 Service Unavailable");
}

// SEC-03
TEST_F(TwoConnections, WhatASweepRefusedGivesWayAtOnce) {
  let_the_head_time_pass();
  first_.connection->sweep();
  EXPECT_EQ(memory_.taken(Standing::stranger), 0U);
  io_.poll();
  EXPECT_EQ(refused(), 1U);
  EXPECT_EQ(answer_to(first_), "HTTP/1.1 408 Request Timeout");
  EXPECT_EQ(answer_to(second_), "");
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
