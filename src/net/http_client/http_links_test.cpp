// Requests to another process of the cluster: many over one link.
#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/http_client/http_client.hpp"
#include "net/testing/http_test_server.hpp"
#include "net/testing/test_run.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;
const std::string kKey(32, 'k');

HttpServerOptions linked() {
  HttpServerOptions options;
  options.tls = TlsContext::server_with_key(kKey);
  options.is_multiplexed = true;
  return options;
}

Task<> echo(Exchange& exchange) {
  const std::string_view body = exchange.request().body();
  if (exchange.request().path() != "/stream") {
    co_await exchange.reply({.content_type = "text/plain"}, body);
    co_return;
  }
  co_await exchange.begin_stream({.content_type = "text/plain"});
  for (std::size_t at = 0; at < body.size(); at += 50'000)
    co_await exchange.write(body.substr(at, 50'000));
}

class HttpLinksTest : public testing::Test {
 protected:
  HttpLinksTest() {
    HttpClientOptions options;
    options.tls = TlsContext::client_with_key(kKey);
    options.is_multiplexed = true;
    client_ = std::make_unique<HttpClient>(io_, clock_, options);
  }

  Task<std::string> ask(Url url, std::string text, RequestAbort* abort = nullptr) {
    const std::string_view part = text;
    auto response = co_await client_->send({.url = url, .method = "POST", .body = {&part, 1}, .abort = abort});
    if (!response) co_return response.error().message();
    const auto body = co_await response->read_all(SIZE_MAX);
    co_return body ? std::string(*body) : body.error().message();
  }

  Url url_of(const TestServer& server, std::string_view path = "/") const {
    return Url::parse(fmt::format("https://127.0.0.1:{}{}", server.port(), path)).value();
  }

  asio::io_context io_{1};
  SystemClock clock_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(HttpLinksTest, CarryManyRequestsSideBySide) {
  TestServer server(echo, linked());
  EXPECT_EQ(test::run(io_, ask(url_of(server), "first")), "first");
  std::vector<std::unique_ptr<test::Started<std::string>>> asked;
  for (int i = 0; i < 100; ++i)
    asked.push_back(
        std::make_unique<test::Started<std::string>>(io_, ask(url_of(server), fmt::format("number {}", i))));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(asked[static_cast<std::size_t>(i)]->finish(), fmt::format("number {}", i));
  EXPECT_LE(client_->stats().opened, 100U);
  EXPECT_EQ(test::run(io_, ask(url_of(server), "last")), "last");
}

TEST_F(HttpLinksTest, ShareOneConnectionWhereItIsThere) {
  TestServer server(echo, linked());
  test::run(io_, ask(url_of(server), "first"));
  test::Started<std::string> one(io_, ask(url_of(server), "one"));
  test::Started<std::string> two(io_, ask(url_of(server), "two"));
  EXPECT_EQ(one.finish(), "one");
  EXPECT_EQ(two.finish(), "two");
  EXPECT_EQ(client_->stats().opened, 1U);
}

TEST_F(HttpLinksTest, CarryLongBodiesBothWays) {
  TestServer server(echo, linked());
  const std::string text = std::string(1'500'000, 'a') + std::string(1'500'000, 'b');
  EXPECT_TRUE(test::run(io_, ask(url_of(server), text)) == text);
  EXPECT_TRUE(test::run(io_, ask(url_of(server, "/stream"), text)) == text);
}

TEST_F(HttpLinksTest, TellTheServerWhenAClientLeaves) {
  std::promise<void> asked;
  std::promise<void> left;
  TestServer server(
      [&](Exchange& exchange) -> Task<> {
        if (exchange.request().path() != "/wait") {
          co_await exchange.reply({}, "here");
          co_return;
        }
        asio::steady_timer until(exchange.executor(), asio::steady_timer::time_point::max());
        exchange.on_disconnect([&] { until.cancel(); });
        asked.set_value();
        boost::system::error_code ignored;
        co_await until.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        left.set_value();
      },
      linked());
  RequestAbort abort;
  test::Started<std::string> waits(io_, ask(url_of(server, "/wait"), "", &abort));
  auto is_asked = asked.get_future();
  test::run_until(io_, [&] { return is_asked.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  abort();
  EXPECT_NE(waits.finish(), "");
  auto has_left = left.get_future();
  test::run_until(io_, [&] { return has_left.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  EXPECT_EQ(test::run(io_, ask(url_of(server), "")), "here") << "others go on";
  EXPECT_EQ(client_->stats().opened, 1U);
}

TEST_F(HttpLinksTest, OpenAnotherConnectionWhenTheServerWasStartedAgain) {
  auto server = std::make_unique<TestServer>(echo, linked());
  EXPECT_EQ(test::run(io_, ask(url_of(*server), "before")), "before");
  HttpServerOptions same = linked();
  same.port = server->port();
  server = nullptr;
  test::settle(io_);  // lets the client notice the end of the server
  server = std::make_unique<TestServer>(echo, same);
  EXPECT_EQ(test::run(io_, ask(url_of(*server), "after")), "after");
  EXPECT_EQ(client_->stats().opened, 2U);
}

TEST_F(HttpLinksTest, LetWhatRunsFinishWhenTheServerDrains) {
  std::promise<void> asked;
  TestServer server(
      [&](Exchange& exchange) -> Task<> {
        asio::steady_timer until(exchange.executor(), asio::steady_timer::time_point::max());
        exchange.on_drain([&] { until.cancel(); });
        asked.set_value();
        boost::system::error_code ignored;
        co_await until.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        co_await exchange.reply({}, "finished");
      },
      linked());
  test::Started<std::string> waits(io_, ask(url_of(server), ""));
  auto is_asked = asked.get_future();
  test::run_until(io_, [&] { return is_asked.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  auto drained =
      asio::co_spawn(server.workers().at(0), server.server().drain(std::chrono::minutes(1)), asio::use_future);
  EXPECT_EQ(waits.finish(), "finished");
  test::run_until(io_, [&] { return drained.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
}

TEST_F(HttpLinksTest, SayThatThereAreTooManyConnections) {
  HttpServerOptions options = linked();
  options.limits.connections = 1;  // the link itself
  TestServer server(echo, options);
  const auto status = [&](Url url) -> Task<unsigned> {
    const auto response = co_await client_->send({.url = url});
    co_return response ? response->status() : 0U;
  };
  EXPECT_EQ(test::run(io_, status(url_of(server))), 503U);
}

TEST_F(HttpLinksTest, CloseAConnectionThatDoesNotShakeHands) {
  HttpServerOptions options = linked();
  options.limits.handshake_time = std::chrono::milliseconds(50);
  TestServer server(echo, options);
  RawClient silent = server.connect();
  EXPECT_TRUE(silent.at_end());
}

}  // namespace
}  // namespace proteus::net
