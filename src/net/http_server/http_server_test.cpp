#include "net/http_server/http_server.hpp"

#include <atomic>
#include <thread>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/testing/http_test_server.hpp"
#include "net/testing/plain_requests.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;
using test::echo;
using test::kGetHello;

std::string post(std::string_view body, std::string_view fields = "") {
  return fmt::format("POST / HTTP/1.1\r\nHost: h\r\n{}Content-Length: {}\r\n\r\n{}", fields, body.size(), body);
}

TEST(HttpServer, AnswersWithLengthDateAndType) {
  TestServer server(echo);
  auto client = server.connect();
  client.send(kGetHello);
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "GET /hello x=1 ");
  EXPECT_EQ(RawClient::field(answer, "Content-Type"), "text/plain");
  EXPECT_EQ(RawClient::field(answer, "Date")->size(), std::string_view("Sun, 06 Nov 1994 08:49:37 GMT").size());
  EXPECT_FALSE(RawClient::field(answer, "Connection"));
}

TEST(HttpServer, ServesManyRequestsOnOneConnection) {
  TestServer server(echo);
  auto client = server.connect();
  for (int i = 0; i < 100; ++i) {
    client.send(post(std::to_string(i)));
    EXPECT_EQ(client.receive().body, fmt::format("POST /  {}", i));
  }
  EXPECT_EQ(server.server().connections(), 1U);
}

TEST(HttpServer, AnswersRequestsSentAheadInOrder) {
  TestServer server(echo);
  auto client = server.connect();
  std::string all;
  for (int i = 0; i < 200; ++i)
    all += post(std::to_string(i));
  client.send(all);
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(client.receive().body, fmt::format("POST /  {}", i));
}

TEST(HttpServer, ReadsBodiesInChunksAndBeyondItsBuffer) {
  TestServer server(echo);
  auto client = server.connect();
  client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive().body, "POST /  abc");
  const std::string large(3'000'000, 'x');
  client.send(post(large));
  EXPECT_EQ(client.receive().body, "POST /  " + large);
}

constexpr std::string_view kLargeHead = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n";

// SEC-03
TEST(HttpServer, AnswersBeforeTheBodyWhereNobodyWantsIt) {
  TestServer server([](Exchange& exchange) -> Task<> { co_await exchange.reply({.status = 401}, "who?"); }, {}, 1,
                    TestServer::Calls::with_heads);
  auto client = server.connect();
  client.send(kLargeHead);
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(RawClient::field(answer, "Connection"), "close");
  client.send(std::string(60'000, 'x'));
  EXPECT_TRUE(client.at_end());
  auto waits = server.connect();
  waits.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  EXPECT_EQ(waits.receive().status, 401) << "and not 100";
  auto whole = server.connect();
  for (int i = 0; i < 2; ++i) {
    whole.send(post("all of it"));
    EXPECT_EQ(whole.receive().status, 401) << "the connection goes on behind a body that was there";
  }
}

TEST(HttpServer, ClosesWhenTheClientAsksFor) {
  TestServer server(echo);
  auto client = server.connect();
  client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(RawClient::field(client.receive(), "Connection"), "close");
  EXPECT_TRUE(client.at_end());
  client.close();
  server.wait_for_connections(0);
}

TEST(HttpServer, AnswersAClientThatHasClosedItsSide) {
  TestServer server(echo);
  auto client = server.connect();
  client.send(kGetHello);
  client.shutdown();
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_TRUE(client.at_end());
}

TEST(HttpServer, SpeaksHttp10) {
  TestServer server(echo);
  auto once = server.connect();
  once.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(RawClient::field(once.receive(), "Connection"), "close");
  EXPECT_TRUE(once.at_end());
  auto kept = server.connect();
  for (int i = 0; i < 2; ++i) {
    kept.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(RawClient::field(kept.receive(), "Connection"), "keep-alive");
  }
}

TEST(HttpServer, SendsNoBodyToHead) {
  TestServer server(echo);
  auto client = server.connect();
  client.send("HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\n");
  const Answer answer = client.receive(true);
  EXPECT_EQ(RawClient::field(answer, "Content-Length"), std::to_string(std::string_view("HEAD /hello  ").size()));
  client.send(kGetHello);
  EXPECT_EQ(client.receive().body, "GET /hello x=1 ");
}

TEST(HttpServer, SendsNeitherBodyNorLengthWhereTheStatusHasNone) {
  TestServer server([](Exchange& exchange) -> Task<> { co_await exchange.reply({.status = 204}, "ignored"); });
  auto client = server.connect();
  client.send(kGetHello);
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 204);
  EXPECT_FALSE(RawClient::field(answer, "Content-Length"));
  client.send(kGetHello);
  EXPECT_EQ(client.receive().status, 204);
}

TEST(HttpServer, GathersTheAnswerFromParts) {
  TestServer server([](Exchange& exchange) -> Task<> {
    const std::string large(1'000'000, 'y');
    const std::array<std::string_view, 4> parts = {"<", large, "", ">"};
    const std::array fields = {Field{"X-One", "1"}, Field{"X-Two", "2"}};
    co_await exchange.reply({.status = 202, .fields = fields, .prepared = "X-Three: 3\r\n"}, parts);
  });
  auto client = server.connect();
  client.send(kGetHello);
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.body, "<" + std::string(1'000'000, 'y') + ">");
  EXPECT_EQ(RawClient::field(answer, "X-One"), "1");
  EXPECT_EQ(RawClient::field(answer, "X-Two"), "2");
  EXPECT_EQ(RawClient::field(answer, "X-Three"), "3");
}

// SEC-03: an exception in a handler costs only its client a 500.
TEST(HttpServer, TurnsAnExceptionInto500) {
  TestServer server([](Exchange&) -> Task<> {
    throw std::runtime_error("secret");
    co_return;
  });
  auto client = server.connect();
  client.send(kGetHello);
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body.find("secret"), std::string::npos);
  EXPECT_TRUE(client.at_end());
  auto next = server.connect();
  next.send(kGetHello);
  EXPECT_EQ(next.receive().status, 500);
}

TEST(HttpServer, AnswersARequestItsHandlerForgot) {
  TestServer server([](Exchange&) -> Task<> { co_return; });
  auto client = server.connect();
  client.send(kGetHello);
  EXPECT_EQ(client.receive().status, 500);
}

// SEC-03
TEST(HttpServer, LetsNoHeaderFieldEndTheHead) {
  TestServer server([](Exchange& exchange) -> Task<> {
    const std::array fields = {Field{"X-Name", "value\r\nX-Injected: 1"}};
    co_await exchange.reply({.fields = fields}, "");
  });
  auto client = server.connect();
  client.send(kGetHello);
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 500);
  EXPECT_FALSE(RawClient::field(answer, "X-Injected"));
}

TEST(HttpServer, SaysContinueBeforeTheBodyAndOnlyThen) {
  TestServer server(echo);
  auto client = server.connect();
  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  client.send("hello");
  EXPECT_EQ(client.receive().body, "POST /  hello");
  client.send(post("again", "Expect: 100-continue\r\n"));
  EXPECT_EQ(client.receive().body, "POST /  again");
}

// PRO-16, the HTTP part: each fault has its status, and the client receives it before the connection ends.
TEST(HttpServer, RefusesWithTheStatusForTheFaultAndCloses) {
  HttpServerOptions options;
  options.limits.head_bytes = 2000;
  options.limits.body_bytes = 1000;
  TestServer server(echo, options);
  for (const auto& [bytes, status] : {
           std::pair<std::string, int>{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n", 413},
           {"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n", 413},
           {"POST / HTTP/1.1\r\nHost: h\r\nExpect: magic\r\nContent-Length: 5\r\n\r\n", 417},
           {"GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(3000, 'x') + "\r\n\r\n", 431},
           {"nonsense\r\n\r\n", 400},
           {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
           {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
           {"POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", 415},
           {"GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505},
       }) {
    auto client = server.connect();
    client.send(bytes);
    const Answer answer = client.receive();
    EXPECT_EQ(answer.status, status) << bytes;
    EXPECT_EQ(RawClient::field(answer, "Connection"), "close");
    EXPECT_EQ(RawClient::field(answer, "Content-Type"), "application/problem+json");
    EXPECT_NE(answer.body.find(fmt::format("\"status\":{}", status)), std::string::npos);
    EXPECT_TRUE(client.at_end()) << bytes;
  }
}

TEST(HttpServer, AnswersAnOversizedBodyThoughItIsStillBeingSent) {
  TestServer server(echo);
  auto client = server.connect();
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n");
  client.send(std::string(3'000'000, 'x'));
  EXPECT_EQ(client.receive().status, 413);
}

// SEC-03
TEST(HttpServer, RefusesConnectionsBeyondTheLimit) {
  HttpServerOptions options;
  options.limits.connections = 2;
  TestServer server(echo, options);
  auto first = server.connect();
  auto second = server.connect();
  server.wait_for_connections(2);
  auto third = server.connect();
  EXPECT_EQ(third.receive().status, 503);
  second.close();
  server.wait_for_connections(1);
  auto fourth = server.connect();
  fourth.send(kGetHello);
  EXPECT_EQ(fourth.receive().status, 200);
}

TEST(HttpServer, KnowsItsPeer) {
  TestServer server([](Exchange& exchange) -> Task<> {
    const net::Request& request = exchange.request();
    co_await exchange.reply({}, fmt::format("{} {}", request.peer().address, request.is_tls()));
  });
  auto client = server.connect();
  client.send(kGetHello);
  EXPECT_EQ(client.receive().body, "127.0.0.1 false");
}

TEST(HttpServer, ListensOnIpv6) {
  HttpServerOptions options;
  options.address = "::1";
  TestServer server(echo, options);
  asio::io_context io;
  asio::ip::tcp::socket client(io);
  boost::system::error_code error;
  client.connect({asio::ip::make_address("::1"), server.port()}, error);
  if (error) GTEST_SKIP() << "no IPv6 here: " << error.message();
  ::send(client.native_handle(), kGetHello.data(), kGetHello.size(), 0);
  std::array<char, 15> start{};
  ::recv(client.native_handle(), start.data(), start.size(), MSG_WAITALL);
  EXPECT_EQ(std::string_view(start.data(), start.size()), "HTTP/1.1 200 OK");
}

TEST(HttpServer, ServesIpv4OnASocketForBothAndNamesThePeerByIt) {
  HttpServerOptions options;
  options.address = "::";
  TestServer server(
      [](Exchange& exchange) -> Task<> { co_await exchange.reply({}, exchange.request().peer().address); }, options);
  auto client = server.connect();
  client.send(kGetHello);
  EXPECT_EQ(client.receive().body, "127.0.0.1");
}

TEST(HttpServer, SaysWhatKeepsItFromListening) {
  TestServer first(echo);
  Workers workers(2);
  workers.run();
  HttpServerOptions options;
  options.port = first.port();
  HttpServer second(workers, options, echo);
  const auto listening = second.listen();
  ASSERT_FALSE(listening) << "two servers must not share a port unnoticed";
  EXPECT_NE(listening.error().message().find(std::to_string(first.port())), std::string::npos);
  options.address = "localhost";
  HttpServer third(workers, options, echo);
  EXPECT_EQ(third.listen().error().kind(), ErrorKind::invalid);
}

TEST(HttpServer, ServesManyClientsOnSeveralWorkers) {
  std::atomic<int> failures = 0;
  {
    TestServer server(echo, {}, 3);
    std::vector<std::jthread> clients;
    for (int c = 0; c < 8; ++c) {
      clients.emplace_back([&, c] {
        for (int round = 0; round < 5; ++round) {
          auto client = server.connect();
          for (int i = 0; i < 20; ++i) {
            const std::string body(static_cast<std::size_t>(c * 1000 + i), 'z');
            client.send(post(body));
            if (client.receive().body != "POST /  " + body) ++failures;
          }
        }
      });
    }
  }
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace proteus::net
