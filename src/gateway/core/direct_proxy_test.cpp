#include <gmock/gmock.h>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"
#include "net/testing/closed_port.hpp"

namespace proteus::gateway {
namespace {

using providers::RefreshStrategy;
using test::one_tool;
using test::Reaction;
using test::ScriptedUpstream;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;

providers::UpstreamSettings direct(std::string name, std::uint16_t port) {
  auto settings = upstream_at(std::move(name), port);
  settings.refresh_strategy = RefreshStrategy::direct_proxy;
  return settings;
}

// Lists a tool that is named after the user in `_meta`.
std::string tool_of_user(const boost::json::object& message) {
  const auto& meta = message.at("params").at("_meta").as_object();
  const auto* user = meta.if_contains("user");
  return one_tool(user != nullptr ? "tool_of_" + std::string(user->as_string()) : "tool_of_nobody");
}

// PRX-03
TEST(DirectProxy, ListsLiveEachTime) {
  Upstream a({"one"});
  TestGateway gateway({direct("a", a.port)});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("a_one"));
  a.add("two");
  EXPECT_THAT(gateway.tools(), ElementsAre("a_one", "a_two")) << "in the very next list";
  EXPECT_EQ(gateway.call("a_two", R"({"x":1})").at("result").at("structuredContent").at("x"), 1);
}

// PRX-04, PRX-05
TEST(DirectProxy, ShowsEachUserWhatTheirMetaBrings) {
  ScriptedUpstream a(tool_of_user);
  TestGateway gateway({direct("a", a.port())});
  gateway.discover();
  EXPECT_THAT(gateway.tools({}, R"(,"user":"ada","deep":{"n":[1.50,"\u00e9"]})"), ElementsAre("a_tool_of_ada"));
  EXPECT_THAT(gateway.tools({}, R"(,"user":"bob")"), ElementsAre("a_tool_of_bob"));
  EXPECT_THAT(gateway.tools(), ElementsAre("a_tool_of_nobody"));
  const auto lists = a.received("tools/list");
  EXPECT_EQ(lists.front().at("params").at("_meta").at("deep").at("n").at(0), 1.5);
}

// PRX-04, PRO-15
TEST(DirectProxy, SendsOnlyTheTraceWherePropagationIsOff) {
  ScriptedUpstream a(tool_of_user);
  auto settings = direct("a", a.port());
  settings.meta_propagation_enabled = false;
  TestGateway gateway({settings});
  gateway.discover();
  EXPECT_THAT(gateway.tools({}, R"(,"user":"ada","traceparent":"00-1-2-01")"), ElementsAre("a_tool_of_nobody"));
  const auto lists = a.received("tools/list");
  EXPECT_EQ(lists.back().at("params").at("_meta").at("traceparent"), "00-1-2-01");
}

// PRO-13
TEST(DirectProxy, KeepsUnknownFieldsOfToolsAndResults) {
  ScriptedUpstream a([](const boost::json::object& message) -> std::string {
    if (message.at("method") == "tools/list") return one_tool("t");
    return R"({"resultType":"complete","content":[],"x-more":{"a":1.50},"_meta":{"y":[1]}})";
  });
  TestGateway gateway({direct("a", a.port())});
  gateway.discover();
  const auto list = gateway.ask("tools/list").at("result");
  EXPECT_EQ(list.at("tools").at(0).at("x-unknown").at("kept"), 1.5);
  EXPECT_EQ(list.at("ttlMs"), 0);
  EXPECT_EQ(list.at("cacheScope"), "private");
  const auto result = gateway.call("a_t").at("result");
  EXPECT_EQ(result.at("x-more").at("a"), 1.5);
  EXPECT_EQ(result.at("_meta").at("y").at(0), 1);
  EXPECT_EQ(result.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"), "gateway");
}

// PRO-07: the names of a live upstream also decide what later pages show.
TEST(DirectProxy, MakesEveryPageOfTheListPrivate) {
  ScriptedUpstream live([](const boost::json::object&) { return one_tool("first"); });
  ScriptedUpstream cached([](const boost::json::object& message) {
    if (message.at("method") != "tools/list") return test::small_lists(message).value_or("{}");
    return std::string(R"({"resultType":"complete","ttlMs":60000,"cacheScope":"public","tools":[)"
                       R"({"name":"x","inputSchema":{"type":"object"}},{"name":"y","inputSchema":{"type":"object"}},)"
                       R"({"name":"z","inputSchema":{"type":"object"}}]})");
  });
  TestGateway gateway({direct("a", live.port()), upstream_at("b", cached.port())}, {.page_size = 1});
  gateway.discover();
  std::size_t pages = 0;
  std::string cursor;
  do {
    const auto page = gateway.ask("tools/list", cursor).at("result");
    ++pages;
    EXPECT_EQ(page.at("cacheScope"), "private") << "page " << pages;
    const auto* next = page.as_object().if_contains("nextCursor");
    cursor = next != nullptr ? fmt::format(R"("cursor":{})", boost::json::serialize(*next)) : "";
  } while (!cursor.empty());
  EXPECT_GE(pages, 4U);
}

// PRX-06, PRX-07
TEST(DirectProxy, RefreshesACachedUpstreamBeforeItPassesOnThatItChanged) {
  Upstream a;
  std::atomic<bool> signal = false;
  a.server
      .add_tool({.name = "unlock"},
                [&](server::Context&) -> server::Outcome<server::ToolResult> {
                  a.add("unlocked");
                  server::ToolResult result = server::ToolResult::text("done");
                  if (signal) result.meta["refresh_capabilities"] = true;
                  return result;
                })
      .value();
  auto settings = upstream_at("a", a.port);
  settings.event_driven_refresh = false;
  TestGateway gateway({settings});
  gateway.discover();
  EXPECT_EQ(gateway.call("a_unlock").at("result").as_object().count("error"), 0U);
  EXPECT_THAT(gateway.tools(), Not(Contains("a_unlocked")));
  signal = true;
  const auto result = gateway.call("a_unlock").at("result");
  EXPECT_EQ(result.at("_meta").at("refresh_capabilities"), true);
  EXPECT_THAT(gateway.tools(), Contains("a_unlocked"));
}

// PRX-09
TEST(DirectProxy, NamesTheUpstreamThatFailed) {
  const net::test::ClosedPort closed;
  TestGateway gateway({direct("bank", closed.number())});
  gateway.discover();
  for (const auto& answer : {gateway.ask("tools/list"), gateway.call("bank_x")}) {
    EXPECT_THAT(std::string(answer.at("error").at("message").as_string()), HasSubstr("upstream bank"));
  }
}

// PRX-09
TEST(DirectProxy, PassesOnWhatAToolSaysOfItself) {
  ScriptedUpstream a([](const boost::json::object& message) -> Reaction {
    if (message.at("params").as_object().contains("name") && message.at("params").at("name") == "broken") {
      return Reaction::body(
          fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":4711,"message":"mine","data":[1]}}}})",
                      boost::json::serialize(message.at("id"))));
    }
    return std::string(R"({"resultType":"complete","content":[{"type":"text","text":"no"}],"isError":true})");
  });
  TestGateway gateway({direct("a", a.port())});
  gateway.discover();
  EXPECT_EQ(gateway.call("a_fails").at("result").at("isError"), true);
  const auto error = gateway.call("a_broken").at("error");
  EXPECT_EQ(error.at("code"), 4711);
  EXPECT_EQ(error.at("message"), "mine");
  EXPECT_EQ(error.at("data").at(0), 1);
}

// PRX-10, PRX-15
TEST(DirectProxy, MergesPagesOfLiveAndCachedUpstreamsInOrder) {
  Upstream first({"a", "b", "c"});
  ScriptedUpstream live([](const boost::json::object& message) -> std::string {
    const auto* cursor = message.at("params").as_object().if_contains("cursor");
    const std::string name = cursor == nullptr ? "x" : *cursor == "2" ? "y" : "z";
    const std::string next = cursor == nullptr ? R"("nextCursor":"2",)" : *cursor == "2" ? R"("nextCursor":"3",)" : "";
    return fmt::format(
        R"({{"resultType":"complete",{}"ttlMs":0,"cacheScope":"private","tools":[{{"name":"{}","inputSchema":{{"type":"object"}}}}]}})",
        next, name);
  });
  Upstream last({"d"});
  TestGateway gateway({upstream_at("first", first.port), direct("live", live.port()), upstream_at("last", last.port)},
                      {.page_size = 2});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("first_a", "first_b", "first_c", "live_x", "live_y", "live_z", "last_d"));
}

// PRX-15
TEST(DirectProxy, LetsTheFirstConfiguredHaveAName) {
  ScriptedUpstream live([](const boost::json::object&) { return one_tool("same"); });
  Upstream cached({"same", "other"});
  auto a = direct("live", live.port());
  auto b = upstream_at("cached", cached.port);
  a.prefix = b.prefix = "";
  {
    TestGateway gateway({a, b});
    gateway.discover();
    EXPECT_THAT(gateway.tools(), ElementsAre("same", "other"));
  }
  TestGateway gateway({b, a});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("other", "same"));
  EXPECT_EQ(gateway.call("same", R"({"x":1})").at("result").at("structuredContent").at("x"), 1) << "the cached one's";
}

// PRX-16
TEST(DirectProxy, NamesWhoIsMissingInAMergedList) {
  const net::test::ClosedPort closed;
  Upstream a({"one"});
  TestGateway gateway({direct("gone", closed.number()), upstream_at("a", a.port)});
  gateway.discover();
  const auto list = gateway.ask("tools/list").at("result");
  EXPECT_EQ(list.at("tools").as_array().size(), 1U);
  EXPECT_EQ(list.at("_meta").at("proteus/missing").at(0), "gone");
  EXPECT_EQ(list.at("ttlMs"), 0);
}

// PRX-16: with a context, the gateway itself has something to list.
TEST(DirectProxy, ListsWhatTheGatewayItselfHasIfNoUpstreamAnswers) {
  const net::test::ClosedPort closed;
  TestGateway gateway({direct("gone", closed.number())}, {.manifests = {{{"work", {}}}, {}}});
  gateway.discover();
  const auto list = gateway.ask_at("/mcp/work", "resources/list").at("result");
  EXPECT_EQ(list.at("resources").at(0).at("uri"), "context://work");
  EXPECT_EQ(list.at("_meta").at("proteus/missing").at(0), "gone");
  EXPECT_TRUE(gateway.ask_at("/mcp/work", "tools/list").as_object().contains("error")) << "it has no tools";
}

// PRX-13
TEST(DirectProxy, LimitsMeta) {
  ScriptedUpstream a(tool_of_user);
  TestGateway gateway({direct("a", a.port())});
  gateway.discover();
  std::string keys;
  for (int i = 0; i < 65; ++i)
    keys += fmt::format(R"(,"k{}":1)", i);
  const std::string deep = R"(,"deep":)" + std::string(20, '[') + std::string(20, ']');
  const std::string large = R"(,"large":")" + std::string(17 * 1024, 'x') + "\"";
  for (const std::string& meta : {keys, deep, large})
    EXPECT_EQ(gateway.ask("tools/list", {}, {}, {}, meta).at("error").at("code"), -32602) << meta.substr(0, 40);
  EXPECT_THAT(a.received("tools/list"), IsEmpty());
}

// PRX-12
TEST(DirectProxy, ChangesTheStrategyAtRuntime) {
  Upstream a({"one"});
  auto cached = upstream_at("a", a.port);
  cached.event_driven_refresh = false;
  TestGateway gateway({cached});
  gateway.discover();
  a.add("two");
  EXPECT_EQ(gateway.tools().size(), 1U);
  ASSERT_TRUE(gateway.set({direct("a", a.port)}));
  EXPECT_EQ(gateway.tools().size(), 2U) << "on the next request";
}

// SEC-01, PRX-08, AUT-02
TEST(DirectProxy, SendsNoTokenOfACallerToAnUpstream) {
  ScriptedUpstream a(tool_of_user);
  ScriptedUpstream b(tool_of_user);
  auto with_own = direct("b", b.port());
  with_own.authentication.type = providers::Authentication::Type::bearer;
  with_own.authentication.token_env = "B_TOKEN";
  TestGateway gateway({direct("a", a.port()), with_own},
                      {.principals = {{.name = "ci", .token = Secret("caller-token"), .upstreams = {"b"}}},
                       .environment = fixed_environment({{"B_TOKEN", "for-b"}})});
  gateway.discover();
  EXPECT_THAT(gateway.tools("Authorization: Bearer caller-token\r\n"), ElementsAre("b_tool_of_nobody"));
  test::RawClient stranger(gateway.port());
  const auto refused = stranger.request("POST", server::modern_fields("tools/list") + "Authorization: Bearer no\r\n",
                                        server::rpc("1", "tools/list", server::modern_meta()));
  EXPECT_EQ(refused.status, 401);
  EXPECT_THAT(refused.field("www-authenticate"), HasSubstr("Bearer"));
  EXPECT_EQ(gateway.call("a_tool_of_nobody", "{}", "Authorization: Bearer caller-token\r\n").at("error").at("code"),
            -32602)
      << "as if it did not exist";
  EXPECT_THAT(a.received("tools/list"), IsEmpty());
  for (const auto& value : b.authorizations())
    EXPECT_EQ(value, "Bearer for-b");
}

}  // namespace
}  // namespace proteus::gateway
