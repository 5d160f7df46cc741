#include <atomic>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <proteus/server_async.hpp>

#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using server::modern_fields;
using server::modern_meta;
using server::RawClient;
using server::rpc;
using test::bearer;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;
using test::wait_until;
using ::testing::HasSubstr;

struct Gate {
  std::atomic<bool> open = false;
  std::atomic<int> inside = 0;
};

boost::asio::awaitable<server::Outcome<server::ToolResult>> hold(Gate& gate) {
  ++gate.inside;
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  while (!gate.open) {
    timer.expires_after(std::chrono::milliseconds(1));
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
  co_return server::ToolResult::text("done");
}

class Limits : public ::testing::Test {
 protected:
  Limits() {
    server::add_async_tool(upstream.server, {.name = "hold"}, [this](server::Context&) { return hold(gate); }).value();
  }
  ~Limits() override { gate.open = true; }

  TestGateway::Setup setup(QuotaLimits limits) {
    TestGateway::Setup setup;
    setup.principals = {{.name = "alice", .token = Secret("a")}, {.name = "bob", .token = Secret("b")}};
    setup.quotas = limits;
    return setup;
  }
  void send_hold(RawClient& client, std::string_view token) {
    client.send_request("POST", modern_fields("tools/call", "up_hold") + bearer(token),
                        rpc("1", "tools/call", R"("name":"up_hold",)" + modern_meta()));
  }
  RawClient::Answer listen(RawClient& client, std::string_view token) {
    return client.request(
        "POST", modern_fields("subscriptions/listen") + bearer(token),
        rpc("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta()));
  }

  Gate gate;
  Upstream upstream;
};

// SEC-07
TEST_F(Limits, OnePrincipalsCallsAtOnceAreBoundedAndNobodyElsesAre) {
  TestGateway gateway({upstream_at("up", upstream.port)}, setup({.calls_per_principal = 1}));
  gateway.discover();
  RawClient first(gateway.port());
  send_hold(first, "a");
  wait_until([&] { return gate.inside == 1; });

  RawClient second(gateway.port());
  send_hold(second, "a");
  const auto refused = second.read_answer();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.field("retry-after"), "1");
  EXPECT_EQ(refused.json().at("id"), 1);
  EXPECT_THAT(std::string(refused.json().at("error").at("message").as_string()), HasSubstr("which is the limit"));
  EXPECT_EQ(gate.inside, 1);

  RawClient bob(gateway.port());
  send_hold(bob, "b");
  wait_until([&] { return gate.inside == 2; });
  gate.open = true;
  EXPECT_EQ(first.read_answer().status, 200);
  EXPECT_EQ(bob.read_answer().status, 200);
  send_hold(second, "a");
  EXPECT_EQ(second.read_answer().status, 200);
}

// SEC-07
TEST_F(Limits, CallsToOneUpstreamAreBoundedAndToOthersAreNot) {
  Upstream other;
  TestGateway gateway({upstream_at("up", upstream.port), upstream_at("other", other.port)},
                      setup({.calls_per_upstream = 1}));
  gateway.discover();
  RawClient first(gateway.port());
  send_hold(first, "a");
  wait_until([&] { return gate.inside == 1; });
  RawClient second(gateway.port());
  send_hold(second, "b");
  const auto refused = second.read_answer();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.field("retry-after"), "1");
  EXPECT_THAT(refused.body, HasSubstr("upstream up"));
  EXPECT_EQ(gateway.gateway.refusals().count(RefusalReason::limit), 1U);  // OPS-10
  EXPECT_TRUE(gateway.call("other_echo", "{}", bearer("b")).as_object().contains("result"));
  gate.open = true;
  EXPECT_EQ(first.read_answer().status, 200);
  send_hold(second, "b");
  EXPECT_EQ(second.read_answer().status, 200);
}

// SEC-07, OPS-10
TEST_F(Limits, AListThatFindsItsUpstreamFullIsRefusedAndLogged) {
  auto live = upstream_at("up", upstream.port);
  live.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  TestGateway gateway({live}, setup({.calls_per_upstream = 1}));
  gateway.discover();
  RawClient first(gateway.port());
  send_hold(first, "a");
  wait_until([&] { return gate.inside == 1; });
  RawClient second(gateway.port());
  const auto refused =
      second.request("POST", modern_fields("tools/list") + bearer("b"), rpc("1", "tools/list", modern_meta()));
  EXPECT_THAT(refused.body, HasSubstr("upstream up has reached its limit of concurrent requests"));
  EXPECT_EQ(gateway.gateway.refusals().count(RefusalReason::limit), 1U);
  gate.open = true;
  EXPECT_EQ(first.read_answer().status, 200);
}

// SEC-07
TEST_F(Limits, RequestsOfAMinuteAreBoundedForBothErasTogether) {
  TestGateway gateway({upstream_at("up", upstream.port)}, setup({.requests_per_minute = 3}));
  gateway.discover();
  RawClient client(gateway.port());
  const auto ask = [&](std::string_view token) {
    return client.request("POST", modern_fields("tools/list") + bearer(token), rpc("1", "tools/list", modern_meta()));
  };
  EXPECT_EQ(ask("a").status, 200);
  EXPECT_EQ(ask("a").status, 200);
  const auto hello = client.request(
      "POST", bearer("a"),
      rpc("0", "initialize",
          R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})"));
  EXPECT_EQ(hello.status, 200);
  const auto refused = ask("a");
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(std::stoi(refused.field("retry-after")), ::testing::AllOf(::testing::Gt(0), ::testing::Le(20)));
  EXPECT_EQ(ask("b").status, 200);
  // An unknown caller is rejected as such, and does not count for anybody.
  EXPECT_EQ(ask("nobody").status, 401);
}

// SEC-07
TEST_F(Limits, OnePrincipalDoesNotHaveAllSessions) {
  auto few = setup({});
  few.sessions = 8;
  TestGateway gateway({}, few);
  RawClient client(gateway.port());
  const auto initialize = [&](std::string_view token) {
    return client.request(
        "POST", bearer(token),
        rpc("0", "initialize",
            R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})"));
  };
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(initialize("a").status, 200);
  const auto refused = initialize("a");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.field("retry-after"), "60");
  EXPECT_THAT(std::string(refused.json().at("error").at("message").as_string()), HasSubstr("You have"));
  EXPECT_EQ(initialize("b").status, 200);
}

// SEC-07
TEST_F(Limits, AnonymousCallersDoNotHaveAllSessions) {
  auto few = setup({});
  few.sessions = 8;
  TestGateway gateway({}, few);
  gateway.gateway.set_access({std::make_shared<const Principals>(few.principals, Anonymous::served), {}});
  RawClient client(gateway.port());
  const std::string hello =
      rpc("0", "initialize",
          R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})");
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(client.request("POST", "", hello).status, 200);
  EXPECT_EQ(client.request("POST", "", hello).status, 503);
  EXPECT_EQ(client.request("POST", bearer("a"), hello).status, 200);
}

// SEC-07
TEST_F(Limits, ABatchCountsAsWhatIsInIt) {
  TestGateway gateway({upstream_at("up", upstream.port)}, setup({.requests_per_minute = 3}));
  gateway.discover();
  RawClient client(gateway.port());
  const auto hello = client.request(
      "POST", bearer("a"),
      rpc("0", "initialize",
          R"("protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test","version":"1"})"));
  const std::string session = fmt::format("Mcp-Session-Id: {}\r\n", hello.field("mcp-session-id"));
  client.send_request("POST", bearer("a") + session,
                      "[" + rpc("1", "ping", "") + "," + rpc("2", "ping", "") + "," + rpc("3", "ping", "") + "]");
  EXPECT_EQ(client.read_answer().status, 200);
  EXPECT_TRUE(client.read_event()->json().as_object().contains("result"));
  EXPECT_TRUE(client.read_event()->json().as_object().contains("result"));
  EXPECT_TRUE(client.read_event()->json().as_object().contains("error"));
}

// SEC-07
TEST_F(Limits, StreamsOfBothErasAreBounded) {
  TestGateway gateway({upstream_at("up", upstream.port)}, setup({.streams_per_principal = 1}));
  gateway.discover();
  RawClient client(gateway.port());
  const auto hello = client.request(
      "POST", bearer("a"),
      rpc("0", "initialize",
          R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})"));
  const std::string session = fmt::format("Mcp-Session-Id: {}\r\n", hello.field("mcp-session-id"));
  {
    RawClient modern(gateway.port());
    EXPECT_EQ(listen(modern, "a").status, 200);
    RawClient legacy(gateway.port());
    const auto refused = legacy.request("GET", bearer("a") + session);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.field("retry-after"), "1");
    RawClient bob(gateway.port());
    EXPECT_EQ(listen(bob, "b").status, 200);
  }
  RawClient first(gateway.port());
  wait_until([&] { return first.request("GET", bearer("a") + session).status == 200; });
  // A client that reopens its own stream takes its own place.
  RawClient again(gateway.port());
  EXPECT_EQ(again.request("GET", bearer("a") + session).status, 200);
  RawClient modern(gateway.port());
  EXPECT_EQ(listen(modern, "a").status, 429);
}

}  // namespace
}  // namespace proteus::gateway
