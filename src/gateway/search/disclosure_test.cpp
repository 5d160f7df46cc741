// What callers who search are listed, and what else they may use.
#include <gmock/gmock.h>

#include "gateway/callers/search_definitions.hpp"
#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/search_fixture.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using providers::RefreshStrategy;
using server::LegacyClient;
using server::text_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Disclosure : public ::testing::TestWithParam<RefreshStrategy> {
 protected:
  providers::UpstreamSettings settings() const {
    auto settings = upstream_at("up", upstream_.port);
    settings.refresh_strategy = GetParam();
    return settings;
  }
  TestGateway::Setup setup() const {
    auto setup = searching();
    setup.manifests.contexts.emplace(
        "some", catalog::ContextManifest{.disclosure = catalog::Disclosure::search, .always = {"up_a*"}});
    return setup;
  }
  Upstream upstream_{{"add", "alter", "drop"}};
};

INSTANTIATE_TEST_SUITE_P(Strategies, Disclosure,
                         ::testing::Values(RefreshStrategy::cached, RefreshStrategy::direct_proxy));

// SRC-01: by principal and by context, in both eras.
TEST_P(Disclosure, ListsWhatSearchesAndWhatIsAlwaysListed) {
  TestGateway gateway({settings()}, setup());
  gateway.discover();
  EXPECT_THAT(gateway.tools(bearer("agent")),
              ElementsAre("call_read_tool", "call_tool", "describe_tool", "search_tools"));
  EXPECT_THAT(gateway.tools(bearer("all")), ElementsAre("up_add", "up_alter", "up_drop"));
  const auto in_context = [&](std::string_view context, std::string_view token) {
    return tool_names(
        gateway.ask_at(fmt::format("/mcp/{}", context), "tools/list", {}, {}, bearer(token)).at("result").at("tools"));
  };
  EXPECT_THAT(in_context("found", "all"), ElementsAre("call_read_tool", "call_tool", "describe_tool", "search_tools"));
  EXPECT_THAT(in_context("some", "all"),
              ElementsAre("call_read_tool", "call_tool", "describe_tool", "search_tools", "up_add", "up_alter"));
  LegacyClient legacy(gateway.port(), "2025-11-25", "{}", bearer("agent"));
  const auto listed = legacy.post(server::rpc("1", "tools/list", "")).json();
  EXPECT_THAT(tool_names(listed.at("result").at("tools")),
              ElementsAre("call_read_tool", "call_tool", "describe_tool", "search_tools"));
}

// SRC-01: the instructions explain how to search.
TEST_P(Disclosure, IsExplainedByTheInstructions) {
  TestGateway gateway({settings()}, setup());
  gateway.discover();
  const LegacyClient agent(gateway.port(), "2025-11-25", "{}", bearer("agent"));
  EXPECT_THAT(std::string(agent.hello.at("result").at("instructions").as_string()), HasSubstr("search_tools"));
  const LegacyClient other(gateway.port(), "2025-11-25", "{}", bearer("all"));
  const auto* said = other.hello.at("result").as_object().if_contains("instructions");
  EXPECT_TRUE(said == nullptr || said->as_string().find("search_tools") == std::string::npos);
}

// SRC-05: in both eras.
TEST_P(Disclosure, LetsToolsBeCalledThatAreNotListed) {
  TestGateway gateway({settings()}, setup());
  gateway.discover();
  EXPECT_EQ(gateway.call("up_add", R"({"x":1})", bearer("agent")).at("result").at("structuredContent").at("x"), 1);
  LegacyClient legacy(gateway.port(), "2025-11-25", "{}", bearer("agent"));
  EXPECT_EQ(legacy.call("1", "up_drop", R"(,"arguments":{"x":2})").json().at("result").at("structuredContent").at("x"),
            2);
}

// SRC-01: for all other callers these names are ordinary.
TEST(DisclosureOfAll, KnowsNoSearch) {
  Upstream upstream({"tool"});
  auto settings = upstream_at("call", upstream.port);
  TestGateway gateway({settings}, searching());
  gateway.discover();
  EXPECT_THAT(gateway.tools(bearer("all")), ElementsAre("call_tool"));
  const auto own = gateway.call("call_tool", R"({"name":"nothing"})", bearer("all"));
  EXPECT_EQ(own.at("result").at("structuredContent").at("name"), "nothing") << "an upstream's own call_tool";
  EXPECT_TRUE(gateway.call("search_tools", R"({"query":"x"})", bearer("all")).as_object().contains("error"));
}

Reaction with_header(const boost::json::object& message) {
  if (message.at("method") == "tools/list") {
    return std::string(R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"tool",
      "description":"Reads a region.","inputSchema":{"type":"object","properties":{
      "region":{"type":"string","x-mcp-header":"Region"}}}}]})");
  }
  if (auto list = small_lists(message)) return *list;
  return std::string(R"({"resultType":"complete","content":[]})");
}

// SRC-05: a caller that was shown no annotation need not send headers, because the gateway mirrors parameters. Headers
// that are sent must match.
TEST_P(Disclosure, MirrorsParametersThatCallersDoNotKnowOf) {
  ScriptedUpstream upstream(with_header);
  auto own = upstream_at("up", upstream.port());
  own.refresh_strategy = GetParam();
  TestGateway gateway({own}, searching());
  gateway.discover();
  const auto described = gateway.call("describe_tool", R"({"names":["up_tool"]})", bearer("agent"));
  const std::string text = boost::json::serialize(described);
  EXPECT_THAT(text, HasSubstr("up_tool"));
  EXPECT_THAT(text, Not(HasSubstr("x-mcp-header")));
  EXPECT_TRUE(gateway.call("up_tool", R"({"region":"eu"})", bearer("agent")).as_object().contains("result"));
  EXPECT_TRUE(gateway.call("call_tool", naming("up_tool", R"({"region":"us"})"), bearer("agent"))
                  .as_object()
                  .contains("result"));
  EXPECT_THAT(upstream.headers("Mcp-Param-Region"), ElementsAre("eu", "us"));
  if (GetParam() == RefreshStrategy::direct_proxy) return;
  const auto other = gateway.call("up_tool", R"({"region":"eu"})", bearer("agent") + "Mcp-Param-Region: us\r\n");
  EXPECT_TRUE(other.as_object().contains("error"));
  EXPECT_TRUE(gateway.call("up_tool", R"({"region":"eu"})", bearer("all")).as_object().contains("error"));
}

// SRC-01: callers are not notified of changes of tools that they are not listed.
TEST(DisclosureBySearch, TellsOnlyOfWhatIsListed) {
  Upstream upstream({"add"});
  auto setup = searching();
  setup.manifests.contexts.emplace(
      "some", catalog::ContextManifest{.disclosure = catalog::Disclosure::search, .always = {"up_a*"}});
  TestGateway gateway({upstream_at("up", upstream.port)}, std::move(setup));
  gateway.discover();
  const auto listening = [&](std::string_view path, std::string_view token) {
    auto client = std::make_unique<RawClient>(gateway.port(), std::string(path));
    client->send_request("POST", server::modern_fields("subscriptions/listen") + bearer(token),
                         server::rpc("9", "subscriptions/listen",
                                     R"("notifications":{"toolsListChanged":true},)" + server::modern_meta("{}")));
    client->read_answer();
    EXPECT_TRUE(client->read_event().has_value()) << "the acknowledgement";
    return client;
  };
  const auto agent = listening("/mcp", "agent");
  const auto some = listening("/mcp/some", "all");
  const auto all = listening("/mcp", "all");
  upstream.add("drop");
  EXPECT_FALSE(gateway.refresh("up").error);
  EXPECT_THAT(all->read_event()->data, HasSubstr("list_changed"));
  upstream.add("alter");
  EXPECT_FALSE(gateway.refresh("up").error);
  EXPECT_THAT(some->read_event()->data, HasSubstr("list_changed"));
  gateway.gateway.end_streams();
  const auto told = agent->read_event();
  EXPECT_THAT(told ? told->data : "", Not(HasSubstr("list_changed")));
}

// SRC-01: callers are listed different tools, so caches must not share lists.
TEST(DisclosureBySearch, IsNotForOthersToKeep) {
  Upstream upstream({"add"});
  TestGateway gateway({upstream_at("up", upstream.port)}, searching());
  gateway.discover();
  for (const auto token : {"agent", "all"})
    EXPECT_EQ(gateway.ask("tools/list", {}, {}, bearer(token)).at("result").at("cacheScope"), "private");
}

}  // namespace
}  // namespace proteus::gateway
