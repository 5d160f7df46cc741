#include <gmock/gmock.h>

#include "gateway/testing/scripted_upstream.hpp"
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

Access access_of(const std::vector<PrincipalSettings>& principals) {
  return {std::make_shared<const Principals>(principals, Anonymous::refused), {}};
}

// Listens for changed tools in both eras: by a modern request, and on the GET stream of a legacy session.
class Listening {
 public:
  Listening(std::uint16_t port, std::string_view token, const std::string& path = "/mcp")
      : legacy_(port, path), standing_(port, path), modern_(port, path), fields_(bearer(token)) {
    const auto hello = legacy_.request(
        "POST", fields_,
        rpc("0", "initialize",
            R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})"));
    fields_ += fmt::format("Mcp-Session-Id: {}\r\n", hello.field("mcp-session-id"));
    EXPECT_EQ(standing_.request("GET", fields_).status, 200);
    const auto head = modern_.request(
        "POST", modern_fields("subscriptions/listen") + bearer(token),
        rpc("7", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta()));
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(modern_.read_event()->json().at("method"), "notifications/subscriptions/acknowledged");
  }

  void expect_end() {
    EXPECT_EQ(modern_.read_event()->json().at("method"), "notifications/cancelled");
    EXPECT_EQ(modern_.read_event()->json().at("id"), 7);
    EXPECT_FALSE(modern_.read_event());
    EXPECT_FALSE(standing_.read_event());
  }
  void expect_change() {
    EXPECT_EQ(modern_.read_event()->json().at("method"), "notifications/tools/list_changed");
    EXPECT_EQ(standing_.read_event()->json().at("method"), "notifications/tools/list_changed");
  }
  // Returns the status of a request in the session.
  int status() { return legacy_.request("POST", fields_, rpc("1", "tools/list", "")).status; }

 private:
  RawClient legacy_;
  RawClient standing_;
  RawClient modern_;
  std::string fields_;
};

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
  RawClient connection(gateway.port());
  EXPECT_EQ(list(connection, "a").status, 200);
  Listening of_ada(gateway.port(), "a");
  Listening of_bob(gateway.port(), "b");

  gateway.gateway.set_access(access_of({bob}));
  EXPECT_EQ(list(connection, "a").status, 401) << "on the connection that was there before, too";
  of_ada.expect_end();
  EXPECT_EQ(of_ada.status(), 401);

  EXPECT_EQ(list(connection, "b").status, 200);
  upstream.add("more");
  of_bob.expect_change();

  gateway.gateway.set_access(access_of({ada, bob}));
  EXPECT_EQ(of_ada.status(), 404) << "the session has ended with the token";
}

// AUT-01, AUT-03
TEST(Tokens, MayDifferFromRequestToRequestOnOneConnection) {
  Upstream one;
  Upstream two;
  TestGateway gateway({upstream_at("one", one.port), upstream_at("two", two.port)},
                      {.principals = {{.name = "ada", .token = Secret("first"), .upstreams = {"one"}},
                                      {.name = "bob", .token = Secret("other"), .upstreams = {"two"}}}});
  gateway.discover();
  RawClient connection(gateway.port());
  const auto seen = [&](const std::string& fields) {
    const auto listed =
        connection.request("POST", modern_fields("tools/list") + fields, rpc("1", "tools/list", modern_meta()));
    if (listed.status != 200) return std::to_string(listed.status);
    return std::string(listed.json().at("result").at("tools").at(0).at("name").as_string());
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(seen(bearer("first")), "one_echo");
    EXPECT_EQ(seen(bearer("first")), "one_echo");
    EXPECT_EQ(seen(bearer("other")), "two_echo") << "which is as long";
    EXPECT_EQ(seen(bearer("firsT")), "401");
    EXPECT_EQ(seen(bearer("first ever")), "401");
    EXPECT_EQ(seen(""), "401") << "nobody is who asked before";
  }
}

// AUT-02: a token's error names the contexts that the token may enter, and no others.
TEST(Contexts, ATokenOfOneContextIsToldWhichAtThePlainEndpoint) {
  TestGateway gateway({}, {.principals = {{.name = "ada", .token = Secret("a"), .contexts = {"one"}},
                                          {.name = "bob", .token = Secret("b"), .contexts = {"gone"}}},
                           .manifests = {{{"one", {}}, {"hidden", {}}}, {}}});
  const auto refusal = [&](const std::string& token, const std::string& path) {
    RawClient client(gateway.port(), path);
    const auto answer =
        client.request("POST", modern_fields("tools/list") + bearer(token), rpc("1", "tools/list", modern_meta()));
    EXPECT_EQ(answer.status, 404);
    return std::string(answer.json().at("error").at("message").as_string());
  };
  EXPECT_EQ(refusal("a", "/mcp"), "There is no such context for this token; it may use /mcp/one");
  EXPECT_EQ(refusal("a", "/mcp/hidden"), refusal("a", "/mcp/nowhere"));
  EXPECT_EQ(refusal("b", "/mcp"), "There is no such context, and none that this token may enter");
}

// AUT-04, AUT-02
TEST(Reload, WhatATokenMayNoLongerDoEndsWhatItHasOpen) {
  const PrincipalSettings ada{.name = "ada", .token = Secret("a"), .contexts = {"one", "two"}};
  const PrincipalSettings bob{.name = "bob", .token = Secret("b")};
  Upstream upstream;
  TestGateway gateway({upstream_at("up", upstream.port)},
                      {.principals = {ada, bob}, .manifests = {{{"one", {}}, {"two", {}}}, {}}});
  gateway.discover();
  const auto reload = [&](const PrincipalSettings& settings) {
    gateway.gateway.set_access({access_of({settings, bob}).principals, gateway.gateway.access()->contexts});
  };
  Listening of_bob(gateway.port(), "b", "/mcp/one");
  {
    Listening of_ada(gateway.port(), "a", "/mcp/one");
    reload({.name = "ada", .token = Secret("a"), .contexts = {"two"}});
    of_ada.expect_end();
    EXPECT_EQ(of_ada.status(), 404) << "there is no such context for it";
    reload(ada);
    EXPECT_EQ(of_ada.status(), 404) << "the session has ended";
  }
  {
    Listening of_ada(gateway.port(), "a", "/mcp/one");
    reload({.name = "ada", .token = Secret("a"), .contexts = ada.contexts, .upstreams = {"other"}});
    of_ada.expect_end();
    reload(ada);
  }
  {
    Listening of_ada(gateway.port(), "a", "/mcp/one");
    reload({.name = "ada", .token = Secret("another"), .contexts = ada.contexts});
    of_ada.expect_end();
    EXPECT_EQ(of_ada.status(), 401);
    reload(ada);
  }
  Listening of_ada(gateway.port(), "a", "/mcp/one");
  reload(ada);
  upstream.add("more");
  of_ada.expect_change();
  of_bob.expect_change();
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

// PRO-07
TEST(Caching, AnAnswerIsPublicOnlyWhereEverybodySeesTheSame) {
  test::ScriptedUpstream upstream([](const boost::json::object& message) -> test::Reaction {
    const auto& method = message.at("method").as_string();
    if (method == "resources/read") {
      return std::string(R"({"resultType":"complete","ttlMs":60000,"cacheScope":"public","contents":[]})");
    }
    if (method == "resources/list") {
      return std::string(
          R"({"resultType":"complete","ttlMs":60000,"cacheScope":"public","resources":[{"uri":"test://r","name":"r"}]})");
    }
    return test::small_lists(message).value();
  });
  const PrincipalSettings ada{.name = "ada", .token = Secret("a")};
  TestGateway gateway({upstream_at("up", upstream.port())}, {.principals = {ada}});
  gateway.discover();
  const auto scopes = [&] {
    const auto read = gateway.ask("resources/read", R"("uri":"test://r")", "test://r", bearer("a")).at("result");
    const auto list = gateway.ask("resources/list", "", "", bearer("a")).at("result");
    return fmt::format("{} {}", std::string_view(read.at("cacheScope").as_string()),
                       std::string_view(list.at("cacheScope").as_string()));
  };
  EXPECT_EQ(scopes(), "public public");
  gateway.gateway.set_access(access_of({ada, {.name = "bob", .token = Secret("b"), .upstreams = {"other"}}}));
  EXPECT_EQ(scopes(), "private private");

  gateway.gateway.set_access(access_of({ada}));
  auto direct = upstream_at("up", upstream.port());
  direct.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  gateway.set({direct}).value();
  gateway.discover();
  EXPECT_EQ(scopes(), "private private");
}

}  // namespace
}  // namespace proteus::gateway
