// Tools that an operator has shaped, as clients of both eras see and call them.
#include <gmock/gmock.h>

#include "gateway/operate/pin_decisions.hpp"
#include "gateway/testing/bridge_fixture.hpp"
#include "gateway/testing/scripted_upstream.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using catalog::Confirm;
using providers::RefreshStrategy;
using providers::ToolSettings;
using server::LegacyClient;
using server::text_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kYes = R"({"confirmation":{"action":"accept","content":{"confirmed":true}}})";

// An upstream of one era whose tools answer with their arguments.
class SearchUpstream {
 public:
  explicit SearchUpstream(server::ServerOptions options) : server({.name = "search", .version = "1"}, options) {
    for (const auto name : {"search", "secret", "plain"}) {
      server
          .add_tool({.name = name,
                     .description = "Finds.",
                     .input_schema = {{"type", "object"},
                                      {"properties",
                                       {{"tenant", {{"type", "string"}}},
                                        {"q", {{"type", "string"}}},
                                        {"limit", {{"type", "integer"}}}}}}},
                    [this](server::Context& context) -> server::Outcome<server::ToolResult> {
                      ++calls;
                      return server::ToolResult::json(context.arguments());
                    })
          .value();
    }
    port = server.listen().value();
  }

  server::Server server;
  std::uint16_t port = 0;
  std::atomic<int> calls = 0;
};

std::vector<ToolSettings> search_shapes() {
  return {{.match = {"search"},
           .rename = "find",
           .title = "Find",
           .append = "Ours alone.",
           .fixed = {{"tenant", "acme"}},
           .defaults = {{"limit", 20}}},
          {.match = {"secret*"}, .hidden = true}};
}

struct Way {
  mcp::Era upstream;
  RefreshStrategy strategy;
};

class Shaping : public ::testing::TestWithParam<Way> {
 protected:
  providers::UpstreamSettings settings() const {
    auto settings = upstream_at("a", upstream_.port);
    settings.refresh_strategy = GetParam().strategy;
    settings.tools = search_shapes();
    return settings;
  }
  SearchUpstream upstream_{GetParam().upstream == mcp::Era::legacy ? legacy_only() : modern_only()};
};

// SHP-01, SHP-02
TEST_P(Shaping, HoldsForListsAndCallsOfBothEras) {
  TestGateway gateway({settings()});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("a_find", "a_plain"));
  const auto tool = gateway.ask("tools/list").at("result").at("tools").at(0);
  EXPECT_EQ(tool.at("title"), "Find");
  EXPECT_EQ(tool.at("description"), "Finds.\n\nOurs alone.");
  const auto& properties = tool.at("inputSchema").at("properties").as_object();
  EXPECT_FALSE(properties.contains("tenant"));
  EXPECT_EQ(properties.at("limit").at("default"), 20);

  const boost::json::value whole{{"q", "x"}, {"limit", 20}, {"tenant", "acme"}};
  EXPECT_EQ(gateway.call("a_find", R"({"q":"x"})").at("result").at("structuredContent"), whole);
  LegacyClient legacy(gateway.port(), "2025-11-25", "{}");
  const auto answer = legacy.call("1", "a_find", R"(,"arguments":{"q":"x"})").json();
  EXPECT_EQ(answer.at("result").at("structuredContent"), whole);
  const auto none = gateway.ask("tools/call", R"("name":"a_find")", "a_find");
  EXPECT_EQ(none.at("result").at("structuredContent"), (boost::json::value{{"limit", 20}, {"tenant", "acme"}}));
  EXPECT_EQ(upstream_.calls, 3);
}

// SHP-01: fixed arguments cannot be overridden. SHP-02: arguments are checked against the schema that is shown.
TEST_P(Shaping, RefusesWhatIsNotForCallers) {
  TestGateway gateway({settings()});
  gateway.discover();
  for (const auto arguments : {R"({"q":"x","tenant":"evil"})", R"({"q":"x","\u0074enant":"evil"})"}) {
    const auto refused = gateway.call("a_find", arguments);
    EXPECT_EQ(refused.at("result").at("isError"), true);
    EXPECT_THAT(text_of(refused), HasSubstr("tenant is not overridable"));
  }
  EXPECT_THAT(text_of(gateway.call("a_find", R"({"q":1})")), HasSubstr("/q: must be a string"));
  for (const auto name : {"a_search", "a_secret"})
    EXPECT_TRUE(gateway.call(name).as_object().contains("error")) << name;
  EXPECT_EQ(upstream_.calls, 0);
  EXPECT_EQ(gateway.call("a_plain", R"({"tenant":"mine"})").at("result").at("structuredContent").at("tenant"), "mine");
}

// SHP-04: in all pairs of eras, for one call, and for exactly these arguments.
TEST_P(Shaping, AsksTheUserFirst) {
  auto shaped = settings();
  shaped.tools.push_back({.match = {"search"}, .confirm = Confirm::always});
  TestGateway gateway({shaped});
  gateway.discover();
  ModernClient modern(gateway);
  const auto call = [&](std::string_view arguments, std::string_view more = {}) {
    return modern.send("tools/call", "a_find", fmt::format(R"("name":"a_find","arguments":{}{})", arguments, more))
        .json();
  };
  const auto asked = call(R"({"q":"x"})");
  ASSERT_TRUE(asks(asked));
  const auto message = asked.at("result").at("inputRequests").at("confirmation").at("params").at("message");
  EXPECT_THAT(std::string(message.as_string()), HasSubstr("q: x"));
  EXPECT_THAT(std::string(message.as_string()), HasSubstr("limit: 20"));
  EXPECT_THAT(std::string(message.as_string()), Not(HasSubstr("acme"))) << "what is fixed is the operator's";
  const std::string yes = ModernClient::with_answers(asked, kYes);
  EXPECT_TRUE(call(R"({"q":"y"})", yes).as_object().contains("error")) << "other arguments were not approved";
  EXPECT_EQ(upstream_.calls, 0);
  EXPECT_EQ(call(R"({"q":"x"})", yes).at("result").at("structuredContent").at("tenant"), "acme");
  EXPECT_EQ(call(R"({"q":"x"})", yes).at("result").at("structuredContent").at("tenant"), "acme") << "the same result";
  EXPECT_EQ(upstream_.calls, 1);

  const auto no = call(R"({"q":"x"})",
                       ModernClient::with_answers(call(R"({"q":"x"})"), R"({"confirmation":{"action":"decline"}})"));
  EXPECT_THAT(text_of(no), HasSubstr("cancelled by user"));
  EXPECT_EQ(upstream_.calls, 1);

  LegacyClient legacy(gateway.port(), "2025-11-25", kEverything);
  legacy.client.send_request("POST", legacy.fields(),
                             server::rpc("7", "tools/call", R"("name":"a_find","arguments":{"q":"x"})"));
  legacy.client.read_answer();
  const auto next = [&] {
    auto event = legacy.client.read_event();
    while (event && event->data.empty())
      event = legacy.client.read_event();
    return event->json();
  };
  const auto question = next();
  EXPECT_EQ(question.at("method"), "elicitation/create");
  EXPECT_EQ(upstream_.calls, 1);
  RawClient other(gateway.port());
  other.request("POST", legacy.fields(),
                fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", boost::json::serialize(question.at("id")),
                            R"({"action":"accept","content":{"confirmed":true}})"));
  EXPECT_EQ(next().at("result").at("structuredContent").at("tenant"), "acme");
  EXPECT_EQ(upstream_.calls, 2);
}

// SHP-04: the approval is for what would run, even if the operator changes that meanwhile.
TEST_P(Shaping, RunsNothingElseThanWasApproved) {
  auto shaped = settings();
  shaped.tools.push_back({.match = {"search"}, .confirm = Confirm::always});
  TestGateway gateway({shaped});
  gateway.discover();
  ModernClient modern(gateway);
  const auto asked = modern.call("a_find");
  ASSERT_TRUE(asks(asked));
  shaped.tools.front().fixed = {{"tenant", "other"}};
  gateway.set({shaped}).value();
  gateway.discover();
  EXPECT_THAT(text_of(modern.again("a_find", asked, kYes)), HasSubstr("was changed while confirmation was awaited"));
  EXPECT_EQ(upstream_.calls, 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, Shaping,
                         ::testing::Values(Way{mcp::Era::legacy, RefreshStrategy::cached},
                                           Way{mcp::Era::modern, RefreshStrategy::cached},
                                           Way{mcp::Era::legacy, RefreshStrategy::direct_proxy},
                                           Way{mcp::Era::modern, RefreshStrategy::direct_proxy}));

// SHP-04, SES-12: the upstream's own questions come after the confirmation, and do not cause another one. Neither
// retry is good for a second run.
TEST(ShapedCalls, AreConfirmedOnceThoughTheUpstreamAsksToo) {
  for (const auto era : {mcp::Era::legacy, mcp::Era::modern}) {
    AskingUpstream upstream(era == mcp::Era::legacy ? legacy_only() : modern_only());
    auto settings = upstream_at("a", upstream.port);
    settings.tools = {{.match = {"greet"}, .confirm = Confirm::destructive}};
    TestGateway gateway({settings});
    gateway.discover();
    ModernClient modern(gateway);
    const auto confirmation = modern.call("a_greet");
    ASSERT_TRUE(asks(confirmation));
    const auto name = modern.again("a_greet", confirmation, kYes);
    ASSERT_TRUE(asks(name)) << boost::json::serialize(name);
    const auto key = std::string(name.at("result").at("inputRequests").as_object().begin()->key());
    EXPECT_NE(key, "confirmation");
    const std::string answer = fmt::format(R"({{"{}":{}}})", key, kAda);
    EXPECT_EQ(text_of(modern.again("a_greet", name, answer)), "Hello, Ada");
    (void)modern.again("a_greet", name, answer);
    (void)modern.again("a_greet", confirmation, kYes);
    EXPECT_EQ(upstream.runs, 1);
  }
}

Reaction with_headers(const boost::json::object& message) {
  if (message.at("method") == "tools/list") {
    return std::string(R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"tool",
      "inputSchema":{"type":"object","properties":{"tenant":{"type":"string","x-mcp-header":"Tenant"},
      "size":{"type":"integer","x-mcp-header":"Size"},"q":{"type":"string","x-mcp-header":"Q"}}}}]})");
  }
  if (auto list = small_lists(message)) return *list;
  if (message.at("method") != "tools/call") return std::string(R"({"resultType":"complete"})");
  if (message.at("params").at("arguments").as_object().contains("hang")) return Reaction::hang();
  return std::string(R"({"resultType":"complete","content":[]})");
}

// SHP-02: for arguments that the gateway inserts, the gateway also writes the headers.
TEST(ShapedCalls, CarryTheHeadersOfWhatIsPutIn) {
  for (const auto strategy : {RefreshStrategy::cached, RefreshStrategy::direct_proxy}) {
    ScriptedUpstream upstream(with_headers);
    auto settings = upstream_at("up", upstream.port());
    settings.refresh_strategy = strategy;
    settings.tools = {{.match = {"tool"}, .fixed = {{"tenant", "acme"}}, .defaults = {{"size", 3}}}};
    TestGateway gateway({settings});
    gateway.discover();
    const auto result = gateway.call("up_tool", R"({"q":"x"})", "Mcp-Param-Q: x\r\nMcp-Param-Tenant: evil\r\n");
    ASSERT_TRUE(result.as_object().contains("result")) << boost::json::serialize(result);
    EXPECT_THAT(upstream.headers("Mcp-Param-Tenant"), ElementsAre("acme"));
    EXPECT_THAT(upstream.headers("Mcp-Param-Size"), ElementsAre("3"));
    EXPECT_THAT(upstream.headers("Mcp-Param-Q"), ElementsAre("x"));
  }
}

// SHP-01
TEST(ShapedCalls, HaveATimeoutOfTheirOwn) {
  ScriptedUpstream upstream(with_headers);
  auto settings = upstream_at("up", upstream.port());
  settings.call_timeout = 1h;
  settings.tools = {{.match = {"t*"}, .timeout = 20ms}};
  TestGateway gateway({settings});
  gateway.discover();
  EXPECT_TRUE(gateway.call("up_tool", R"({"hang":1})").as_object().contains("error"));
}

// SHP-03
TEST(PinnedAndShaped, IsRatifiedAsTheUpstreamWroteIt) {
  store::MemoryStore store{{}};
  SearchUpstream upstream{modern_only()};
  auto settings = upstream_at("a", upstream.port);
  settings.trust = providers::Trust::pin;
  settings.tools = search_shapes();
  TestGateway gateway({settings}, TestGateway::Setup{.store = &store});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), IsEmpty());
  PinDecisions decisions(gateway.gateway, store);
  for (const auto& one : decisions.proposals()) {
    EXPECT_THAT(one.posted.proposal->after, HasSubstr("tenant"));
    EXPECT_THAT(one.posted.proposal->after, Not(HasSubstr("Ours alone")));
    ASSERT_TRUE(gateway.run(decisions.decide(one.posted.id, store::Verdict::ratified, "ada", "ops")));
  }
  EXPECT_THAT(gateway.tools(), ElementsAre("a_find", "a_plain"));
  EXPECT_EQ(gateway.call("a_find", R"({"q":"x"})").at("result").at("structuredContent").at("tenant"), "acme");

  settings.tools.front().rename = "look";
  gateway.set({settings}).value();
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("a_look", "a_plain")) << "nothing has to be ratified again";
  EXPECT_THAT(decisions.proposals(), IsEmpty());
}

// SHP-01, SHP-03: the store keeps definitions as the upstream wrote them.
TEST(KeptAndShaped, IsShapedAnewAfterARestart) {
  store::MemoryStore store{{}};
  auto settings = upstream_at("a", 0);
  {
    SearchUpstream upstream{modern_only()};
    settings = upstream_at("a", upstream.port);
    settings.tools = search_shapes();
    TestGateway gateway({settings}, TestGateway::Setup{.store = &store});
    gateway.discover();
    wait_until([&] { return !gateway.run(store.snapshots()).value().empty(); });
  }
  settings.tools = {{.match = {"plain"}, .rename = "simple"}};
  TestGateway gateway({settings}, TestGateway::Setup{.store = &store});
  EXPECT_THAT(gateway.tools(), ElementsAre("a_search", "a_secret", "a_simple"));
}

// SHP-06
TEST(ShapesOfNothing, AreWarnedOfWhenTheUpstreamWasRead) {
  SearchUpstream upstream{modern_only()};
  auto settings = upstream_at("a", upstream.port);
  settings.tools = search_shapes();
  settings.tools.push_back({.match = {"delete_*"}, .scopes = {"admin"}});
  settings.tools.push_back({.match = {"plain"}, .rename = "find"});
  TestGateway gateway({settings});
  gateway.discover();
  const auto report = gateway.status("a").shaping;
  EXPECT_THAT(report.fitted, ElementsAre(1, 1, 0, 1));
  EXPECT_EQ(report.hidden, 1U);
  EXPECT_THAT(report.warnings, ::testing::Contains(HasSubstr("tools[2] fits no tool: delete_*")));
}

// SHP-05
TEST(PausedUpstream, IsNotThereAndItsClientsAreTold) {
  SearchUpstream upstream{modern_only()};
  auto settings = upstream_at("a", upstream.port);
  TestGateway gateway({settings});
  gateway.discover();
  RawClient listener(gateway.port());
  listener.send_request("POST", server::modern_fields("subscriptions/listen"),
                        server::rpc("1", "subscriptions/listen",
                                    R"("notifications":{"toolsListChanged":true},)" + server::modern_meta()));
  EXPECT_EQ(listener.read_answer().status, 200);
  const auto told = [&] {
    auto event = listener.read_event();
    while (event && event->data.empty())
      event = listener.read_event();
    return std::string(event->json().at("method").as_string());
  };
  EXPECT_EQ(told(), "notifications/subscriptions/acknowledged");

  settings.enabled = false;
  gateway.set({settings}).value();
  EXPECT_EQ(told(), "notifications/tools/list_changed");
  EXPECT_THAT(gateway.tools(), IsEmpty());
  EXPECT_TRUE(gateway.call("a_plain").as_object().contains("error"));
  EXPECT_EQ(gateway.gateway.upstreams()->find("a"), nullptr);
  EXPECT_EQ(upstream.calls, 0);

  settings.enabled = true;
  gateway.set({settings}).value();
  gateway.discover();
  EXPECT_EQ(told(), "notifications/tools/list_changed");
  EXPECT_THAT(gateway.tools(), ElementsAre("a_plain", "a_search", "a_secret"));
}

}  // namespace
}  // namespace proteus::gateway
