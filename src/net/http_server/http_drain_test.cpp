#include <atomic>
#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "net/testing/http_test_server.hpp"

// Clients that disconnect, and a server that drains.
namespace proteus::net {
namespace {

namespace asio = boost::asio;
using std::chrono::seconds;

// What a handler and its test share.
struct Shared {
  std::promise<void> started;
  std::atomic<int> gone = 0;
  std::atomic<int> drained = 0;
  std::atomic<int> finished = 0;
};

// Waits for a disconnect or a drain, and then replies.
Task<> park(Exchange& exchange, Shared& shared, bool watch) {
  asio::steady_timer until(exchange.executor(), asio::steady_timer::time_point::max());
  if (watch) {
    exchange.on_disconnect([&] {
      ++shared.gone;
      until.cancel();
    });
  }
  exchange.on_drain([&] {
    ++shared.drained;
    until.cancel();
  });
  shared.started.set_value();
  boost::system::error_code ignored;
  co_await until.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  co_await exchange.reply({}, "finished");
  ++shared.finished;
}

HttpHandler parking(Shared& shared, bool watch = true) {
  return [&shared, watch](Exchange& exchange) { return park(exchange, shared, watch); };
}

// Parks the first request and answers all others at once.
HttpHandler parking_once(Shared& shared) {
  return [&shared, first = std::make_shared<std::atomic<bool>>(true)](Exchange& exchange) {
    if (first->exchange(false)) return park(exchange, shared, true);
    return [](Exchange& other) -> Task<> { co_await other.reply({}, other.request().path()); }(exchange);
  };
}

std::future<void> drain(TestServer& server, std::chrono::milliseconds grace, std::chrono::milliseconds idle = {}) {
  auto done = asio::co_spawn(server.workers().at(0), server.server().drain(grace, idle), asio::use_future);
  server.settle();
  return done;
}

TEST(Disconnect, IsNoticedWhileTheHandlerWaits) {
  Shared shared;
  TestServer server(parking(shared));
  auto client = server.connect();
  client.send(test::kGet);
  shared.started.get_future().wait();
  client.close();
  server.wait_for_connections(0);
  EXPECT_EQ(shared.gone, 1);
  EXPECT_EQ(shared.finished, 1);
}

TEST(Disconnect, IsNotMistakenForRequestsSentAhead) {
  Shared shared;
  TestServer server(parking_once(shared));
  auto client = server.connect();
  client.send(test::kGet);
  shared.started.get_future().wait();
  client.send("GET /second HTTP/1.1\r\nHost: h\r\n\r\nGET /thi");
  client.send("rd HTTP/1.1\r\nHost: h\r\n\r\n");
  // Once the worker has nothing left to do, the watch has read them.
  for (int i = 0; i < 100; ++i)
    run_on(server.workers().at(0), [] {});
  EXPECT_EQ(shared.gone, 0);
  run_on(server.workers().at(0), [] {});
  auto done = drain(server, seconds(1000));
  EXPECT_EQ(client.receive().body, "finished");
  client.close();
  done.wait();
}

TEST(Disconnect, LeavesRequestsSentAheadToBeAnswered) {
  Shared shared;
  std::promise<asio::steady_timer*> parked;
  TestServer server([&](Exchange& exchange) -> Task<> {
    return [](Exchange& other, std::promise<asio::steady_timer*>& out) -> Task<> {
      if (other.request().path() != "/") {
        co_await other.reply({}, other.request().path());
        co_return;
      }
      asio::steady_timer until(other.executor(), asio::steady_timer::time_point::max());
      other.on_disconnect([] {});
      out.set_value(&until);
      boost::system::error_code ignored;
      co_await until.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      co_await other.reply({}, "first");
    }(exchange, parked);
  });
  auto client = server.connect();
  client.send(test::kGet);
  asio::steady_timer* until = parked.get_future().get();
  client.send("GET /second HTTP/1.1\r\nHost: h\r\n\r\nGET /thi");
  for (int i = 0; i < 100; ++i)
    run_on(server.workers().at(0), [] {});
  run_on(server.workers().at(0), [&] { until->cancel(); });
  EXPECT_EQ(client.receive().body, "first");
  EXPECT_EQ(client.receive().body, "/second");
  client.send("rd HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.receive().body, "/third");
  client.send("GET /fourth HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.receive().body, "/fourth");
}

// SEC-03
TEST(Disconnect, KeepsOnlySoMuchOfWhatIsSentAhead) {
  Shared shared;
  TestServer server(parking_once(shared));
  auto client = server.connect();
  client.send(test::kGet);
  shared.started.get_future().wait();
  std::string ahead;
  for (int i = 0; i < 2000; ++i)
    ahead += "GET /ahead HTTP/1.1\r\nHost: h\r\n\r\n";
  client.send(ahead);
  for (int i = 0; i < 100; ++i)
    run_on(server.workers().at(0), [] {});
  EXPECT_EQ(shared.gone, 0);
  EXPECT_EQ(shared.finished, 0);
}

TEST(Disconnect, OfAStreamEndsItsWrites) {
  static std::atomic<bool> ended;
  ended = false;
  TestServer server([](Exchange& exchange) -> Task<> {
    co_await exchange.begin_stream({});
    const std::string part(1000, 'x');
    while (co_await exchange.write(part))
      continue;
    ended = true;
  });
  auto client = server.connect();
  client.send(test::kGet);
  EXPECT_EQ(client.receive(true).status, 200);
  client.close();
  server.wait_for_connections(0);
  EXPECT_TRUE(ended);
}

TEST(Drain, ClosesIdleConnectionsAndAcceptsNoMore) {
  TestServer server([](Exchange& exchange) -> Task<> { co_await exchange.reply({}, "ok"); });
  auto idle = server.connect();
  auto used = server.connect();
  used.send(test::kGet);
  EXPECT_EQ(used.receive().status, 200);
  server.wait_for_connections(2);
  drain(server, seconds(1000)).wait();
  EXPECT_TRUE(idle.at_end());
  EXPECT_TRUE(used.at_end());
  EXPECT_THROW(server.connect(), std::runtime_error);
}

TEST(Drain, ServesOneMoreRequestOnIdleConnectionsForAsLongAsItIsTold) {
  TestServer server([](Exchange& exchange) -> Task<> { co_await exchange.reply({}, "ok"); });
  auto unused = server.connect();
  auto used = server.connect();
  used.send(test::kGet);
  EXPECT_EQ(RawClient::field(used.receive(), "Connection"), std::nullopt);
  server.wait_for_connections(2);
  auto done = drain(server, seconds(1000), seconds(1000));
  EXPECT_THROW(server.connect(), std::runtime_error);
  for (auto* const client : {&used, &unused}) {
    client->send(test::kGet);
    const Answer answer = client->receive();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(RawClient::field(answer, "Connection"), "close");
    EXPECT_TRUE(client->at_end());
    client->close();
  }
  done.wait();
}

TEST(Drain, ClosesIdleConnectionsAfterThatTime) {
  TestServer server([](Exchange& exchange) -> Task<> { co_await exchange.reply({}, "ok"); });
  auto idle = server.connect();
  server.wait_for_connections(1);
  drain(server, seconds(1000), std::chrono::milliseconds(1)).wait();
  EXPECT_TRUE(idle.at_end());
}

TEST(Drain, TellsRunningExchangesAndLetsThemFinish) {
  Shared shared;
  TestServer server(parking(shared));
  auto client = server.connect();
  client.send(test::kGet);
  shared.started.get_future().wait();
  auto done = drain(server, seconds(1000));
  const Answer answer = client.receive();
  EXPECT_EQ(answer.body, "finished");
  EXPECT_EQ(RawClient::field(answer, "Connection"), "close");
  EXPECT_TRUE(client.at_end());
  client.close();
  done.wait();
  EXPECT_EQ(shared.drained, 1);
  EXPECT_EQ(shared.gone, 0);
}

TEST(Drain, LetsARequestThatIsArrivingBeAnswered) {
  TestServer server([](Exchange& exchange) -> Task<> { co_await exchange.reply({}, "ok"); });
  auto client = server.connect();
  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  auto done = drain(server, seconds(1000));
  client.send("hello");
  EXPECT_EQ(RawClient::field(client.receive(), "Connection"), "close");
  client.close();
  done.wait();
}

Task<> never(Exchange& exchange, Shared& shared) {
  asio::steady_timer until(exchange.executor(), asio::steady_timer::time_point::max());
  shared.started.set_value();
  co_await until.async_wait(asio::use_awaitable);
}

TEST(Drain, CancelsWhatRunsBeyondTheGrace) {
  Shared shared;
  TestServer server([&](Exchange& exchange) { return never(exchange, shared); });
  auto client = server.connect();
  client.send(test::kGet);
  shared.started.get_future().wait();
  auto done = drain(server, seconds(30));
  server.advance(seconds(29));
  EXPECT_EQ(done.wait_for(seconds(0)), std::future_status::timeout);
  server.advance(seconds(2));
  done.wait();
  EXPECT_TRUE(client.at_end());
}

// Waits for a disconnect, whether or not the coroutine is cancelled.
Task<> until_gone(Exchange& exchange, Shared& shared) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  asio::steady_timer until(exchange.executor(), asio::steady_timer::time_point::max());
  exchange.on_disconnect([&] {
    ++shared.gone;
    until.cancel();
  });
  shared.started.set_value();
  boost::system::error_code ignored;
  co_await until.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

TEST(Drain, TellsAnExchangeThatItsTimeIsUpThoughItsClientHasSentMoreThanIsRead) {
  Shared shared;
  TestServer server([&](Exchange& exchange) { return until_gone(exchange, shared); });
  auto client = server.connect();
  client.send(test::kGet);
  shared.started.get_future().wait();
  client.send(std::string(200'000, 'x'));
  for (int i = 0; i < 100; ++i)
    run_on(server.workers().at(0), [] {});
  EXPECT_EQ(shared.gone, 0);
  auto done = drain(server, seconds(30));
  server.advance(seconds(31));
  ASSERT_EQ(done.wait_for(seconds(60)), std::future_status::ready);
  EXPECT_EQ(shared.gone, 1);
}

TEST(Drain, TellsAnExchangeThatAsksLate) {
  Shared shared;
  TestServer server(parking(shared));
  auto client = server.connect();
  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  auto done = drain(server, seconds(1000));
  client.send("hello");
  EXPECT_EQ(client.receive().body, "finished");
  client.close();
  done.wait();
  EXPECT_EQ(shared.drained, 1);
}

TEST(Drain, StopsOnSeveralWorkersWhateverRuns) {
  Shared shared;
  std::vector<RawClient> clients;
  TestServer server(
      [](Exchange& exchange) -> Task<> {
        exchange.on_disconnect([] {});
        asio::steady_timer until(exchange.executor(), asio::steady_timer::time_point::max());
        co_await until.async_wait(asio::use_awaitable);
      },
      {}, 3);
  for (int i = 0; i < 20; ++i) {
    clients.push_back(server.connect());
    if (i % 2 == 0) clients.back().send(test::kGet);
  }
  server.wait_for_connections(20);
  server.server().stop();
  EXPECT_EQ(server.server().connections(), 0U);
  for (auto& client : clients)
    EXPECT_TRUE(client.at_end());
}

}  // namespace
}  // namespace proteus::net
