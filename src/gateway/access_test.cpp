#include <gmock/gmock.h>

#include "gateway/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using server::modern_fields;
using server::modern_meta;
using server::RawClient;
using server::rpc;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;

std::string bearer(std::string_view token) { return fmt::format("Authorization: Bearer {}\r\n", token); }

Access access_of(const std::vector<PrincipalSettings>& principals) {
  return {std::make_shared<const Principals>(principals, Anonymous::refused), {}};
}

// AUT-04
TEST(Reload, ATokenThatIsGoneStopsAtTheNextRequestAndItsStreamsClose) {
  const PrincipalSettings ada{.name = "ada", .token = Secret("a")};
  const PrincipalSettings bob{.name = "bob", .token = Secret("b")};
  Upstream upstream;
  TestGateway gateway({upstream_at("up", upstream.port)}, {.principals = {ada, bob}});
  gateway.discover();
  const auto list = [&](RawClient& client, std::string_view token) {
    return client.request("POST", modern_fields("tools/list") + bearer(token), rpc("1", "tools/list", modern_meta()));
  };
  const auto listen = [&](RawClient& client, std::string_view token) {
    const auto head = client.request(
        "POST", modern_fields("subscriptions/listen") + bearer(token),
        rpc("7", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta()));
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(client.read_event()->json().at("method"), "notifications/subscriptions/acknowledged");
  };

  RawClient connection(gateway.port());
  EXPECT_EQ(list(connection, "a").status, 200);
  const auto hello = connection.request(
      "POST", bearer("a"),
      rpc("0", "initialize",
          R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})"));
  const std::string session = fmt::format("Mcp-Session-Id: {}\r\n", hello.field("mcp-session-id"));
  RawClient legacy_stream(gateway.port());
  EXPECT_EQ(legacy_stream.request("GET", bearer("a") + session).status, 200);
  EXPECT_EQ(legacy_stream.read_event()->data, "");
  RawClient of_ada(gateway.port());
  RawClient of_bob(gateway.port());
  listen(of_ada, "a");
  listen(of_bob, "b");

  gateway.gateway.set_access(access_of({bob}));
  EXPECT_EQ(list(connection, "a").status, 401) << "on the connection that was there before, too";
  EXPECT_EQ(of_ada.read_event()->json().at("method"), "notifications/cancelled");
  EXPECT_EQ(of_ada.read_event()->json().at("id"), 7);
  EXPECT_FALSE(of_ada.read_event());
  EXPECT_FALSE(legacy_stream.read_event());
  EXPECT_EQ(connection.request("POST", bearer("a") + session, rpc("1", "tools/list", "")).status, 401);

  EXPECT_EQ(list(connection, "b").status, 200);
  upstream.add("more");
  EXPECT_EQ(of_bob.read_event()->json().at("method"), "notifications/tools/list_changed");

  gateway.gateway.set_access(access_of({ada, bob}));
  EXPECT_EQ(connection.request("POST", bearer("a") + session, rpc("1", "tools/list", "")).status, 404)
      << "the session has ended with the token";
}

// AUT-04
TEST(Reload, WhatATokenMayUseChangesWithTheNextRequest) {
  Upstream one;
  Upstream two;
  TestGateway gateway({upstream_at("one", one.port), upstream_at("two", two.port)},
                      {.principals = {{.name = "ada", .token = Secret("a")}}});
  gateway.discover();
  EXPECT_EQ(gateway.tools(bearer("a")).size(), 2U);
  gateway.gateway.set_access(access_of({{.name = "ada", .token = Secret("a"), .upstreams = {"two"}}}));
  EXPECT_THAT(gateway.tools(bearer("a")), ::testing::ElementsAre("two_echo"));
  EXPECT_TRUE(gateway.call("one_echo", "{}", bearer("a")).as_object().contains("error"));
}

}  // namespace
}  // namespace proteus::gateway
