// SRC-04: a call by `call_tool` behaves in every respect like the call that it names.
#include <gmock/gmock.h>

#include "gateway/testing/search_fixture.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using catalog::Confirm;
using providers::RefreshStrategy;
using server::LegacyClient;
using server::text_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kAgreed = R"({"confirmation":{"action":"accept","content":{"confirmed":true}}})";

struct Pair {
  mcp::Era upstream;
  RefreshStrategy strategy;
};

// A modern client that calls tools by `call_tool`.
class NamingClient {
 public:
  explicit NamingClient(TestGateway& gateway) : client_(gateway, kEverything, "agent") {}

  boost::json::value call(std::string_view tool, std::string_view arguments = "{}", std::string_view more = {},
                          std::string_view by = "call_tool") {
    return client_
        .send("tools/call", by, fmt::format(R"("name":"{}","arguments":{}{})", by, naming(tool, arguments), more))
        .json();
  }
  boost::json::value again(std::string_view tool, const boost::json::value& asked, std::string_view answers) {
    return call(tool, "{}", ModernClient::with_answers(asked, answers));
  }
  ModernClient& plain() { return client_; }

 private:
  ModernClient client_;
};

class CallTool : public ::testing::TestWithParam<Pair> {
 protected:
  providers::UpstreamSettings settings() const {
    auto settings = upstream_at("a", upstream_.port);
    settings.refresh_strategy = GetParam().strategy;
    return settings;
  }
  void SetUp() override {
    upstream_.add("told", [](server::Context& context) -> server::Outcome<server::ToolResult> {
      context.progress(1, 2, "half");
      return server::ToolResult::text("told");
    });
    upstream_.add("fails", [](server::Context&) { return server::ToolResult::error("it broke"); });
    upstream_.server
        .add_tool(
            {.name = "strict",
             .description = "Takes a number.",
             .input_schema = {{"type", "object"}, {"properties", {{"n", {{"type", "integer"}}}}}, {"required", {"n"}}},
             .annotations = {{"readOnlyHint", true}}},
            [](server::Context& context) { return server::ToolResult::json(context.arguments()); })
        .value();
  }
  AskingUpstream upstream_{GetParam().upstream == mcp::Era::legacy ? legacy_only() : modern_only()};
};

INSTANTIATE_TEST_SUITE_P(Pairs, CallTool,
                         ::testing::Values(Pair{mcp::Era::legacy, RefreshStrategy::cached},
                                           Pair{mcp::Era::modern, RefreshStrategy::cached},
                                           Pair{mcp::Era::legacy, RefreshStrategy::direct_proxy},
                                           Pair{mcp::Era::modern, RefreshStrategy::direct_proxy}));

// SRC-04: arguments, results and errors pass unchanged.
TEST_P(CallTool, AnswersAsTheToolDoes) {
  TestGateway gateway({settings()}, searching());
  gateway.discover();
  NamingClient client(gateway);
  EXPECT_EQ(client.call("a_strict", R"({"n": 12345678901234567890})").at("result"),
            client.plain()
                .send("tools/call", "a_strict", R"("name":"a_strict","arguments":{"n": 12345678901234567890})")
                .json()
                .at("result"));
  EXPECT_EQ(client.call("a_strict", R"({"n":7})").at("result").at("structuredContent").at("n"), 7);
  const auto failed = client.call("a_fails");
  EXPECT_EQ(failed.at("result").at("isError"), true);
  EXPECT_EQ(text_of(failed), "it broke");
  EXPECT_EQ(
      client.call("a_strict", R"({"n":"x"})").at("result"),
      client.plain().send("tools/call", "a_strict", R"("name":"a_strict","arguments":{"n":"x"})").json().at("result"));
  LegacyClient legacy(gateway.port(), "2025-11-25", "{}", bearer("agent"));
  EXPECT_EQ(legacy.call("1", "call_tool", R"(,"arguments":{"name":"a_strict","arguments":{"n":8}})")
                .json()
                .at("result")
                .at("structuredContent")
                .at("n"),
            8);
}

// SRC-04: questions of the upstream work, across the eras.
TEST_P(CallTool, AsksWhatTheToolAsks) {
  TestGateway gateway({settings()}, searching());
  gateway.discover();
  NamingClient client(gateway);
  const auto first = client.call("a_two_rounds");
  ASSERT_TRUE(asks(first)) << first;
  const auto key_of = [](const boost::json::value& asked) {
    return std::string(asked.at("result").at("inputRequests").as_object().begin()->key());
  };
  const auto second = client.again("a_two_rounds", first, fmt::format(R"({{"{}":{}}})", key_of(first), kAda));
  ASSERT_TRUE(asks(second)) << second;
  const auto done = client.again("a_two_rounds", second, fmt::format(R"({{"{}":{}}})", key_of(second), kAda));
  EXPECT_EQ(text_of(done), "Ada and Ada");
  EXPECT_EQ(upstream_.runs, 1);

  const auto asked = client.call("a_greet");
  ASSERT_TRUE(asks(asked));
  const auto other = client.again("a_two_rounds", asked, fmt::format(R"({{"{}":{}}})", key_of(asked), kAda));
  EXPECT_TRUE(other.as_object().contains("error")) << "the state is for the tool that was named";

  LegacyClient legacy(gateway.port(), "2025-11-25", kEverything, bearer("agent"));
  legacy.client.send_request(
      "POST", legacy.fields(),
      server::rpc("7", "tools/call", R"("name":"call_tool","arguments":{"name":"a_greet","arguments":{}})"));
  legacy.client.read_answer();
  const auto next = [&] {
    auto event = legacy.client.read_event();
    while (event && event->data.empty())
      event = legacy.client.read_event();
    return event->json();
  };
  const auto question = next();
  EXPECT_EQ(question.at("method"), "elicitation/create");
  RawClient answering(gateway.port());
  answering.request(
      "POST", legacy.fields(),
      fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", boost::json::serialize(question.at("id")), kAda));
  EXPECT_EQ(text_of(next()), "Hello, Ada");
}

// SRC-04: the operator's shape applies: confirmation and fixed arguments.
TEST_P(CallTool, IsConfirmedAsTheToolIs) {
  auto shaped = settings();
  shaped.tools = {{.match = {"strict"}, .fixed = {{"n", 5}}, .confirm = Confirm::always}};
  TestGateway gateway({shaped}, searching());
  gateway.discover();
  NamingClient client(gateway);
  const auto asked = client.call("a_strict");
  ASSERT_TRUE(asks(asked)) << asked;
  const auto message = asked.at("result").at("inputRequests").at("confirmation").at("params").at("message");
  EXPECT_THAT(std::string(message.as_string()), HasSubstr("a_strict"));
  EXPECT_EQ(client.again("a_strict", asked, kAgreed).at("result").at("structuredContent").at("n"), 5);
  EXPECT_THAT(text_of(client.call("a_strict", R"({"n":6})")), HasSubstr("not overridable"));
}

// SRC-04: progress notifications carry the client's own token.
TEST_P(CallTool, PassesProgressOn) {
  TestGateway gateway({settings()}, searching());
  gateway.discover();
  RawClient client(gateway.port());
  client.send_request("POST", server::modern_fields("tools/call", "call_tool") + bearer("agent"),
                      server::rpc("1", "tools/call",
                                  fmt::format(R"("name":"call_tool","arguments":{},{})", naming("a_told"),
                                              server::modern_meta("{}", R"(,"progressToken":"mine")"))));
  client.read_answer();
  const auto told = client.read_event();
  ASSERT_TRUE(told.has_value());
  EXPECT_THAT(told->data, AllOf(HasSubstr("notifications/progress"), HasSubstr(R"("mine")")));
  EXPECT_EQ(text_of(client.read_event()->json()), "told");
}

// SRC-04: `call_read_tool` calls only tools that declare to be read-only, whether cached or listed live.
TEST_P(CallTool, ReadsOnlyByToolsThatRead) {
  TestGateway gateway({settings()}, searching());
  gateway.discover();
  NamingClient client(gateway);
  EXPECT_EQ(client.call("a_strict", R"({"n":1})", {}, "call_read_tool").at("result").at("structuredContent").at("n"),
            1);
  const auto refused = client.call("a_greet", "{}", {}, "call_read_tool");
  EXPECT_EQ(refused.at("result").at("isError"), true);
  EXPECT_THAT(text_of(refused), AllOf(HasSubstr("a_greet"), HasSubstr("readOnlyHint"), HasSubstr("call_tool")));
  EXPECT_EQ(upstream_.runs, 0);
  const auto listed = gateway.ask("tools/list", {}, {}, bearer("agent")).at("result").at("tools").as_array();
  EXPECT_EQ(listed.at(0).at("name"), "call_read_tool");
  EXPECT_EQ(listed.at(0).at("annotations").at("readOnlyHint"), true);
}

// SRC-04: the answer to an unknown name suggests the nearest names.
TEST_P(CallTool, NamesTheNearestTools) {
  TestGateway gateway({settings()}, searching());
  gateway.discover();
  NamingClient client(gateway);
  for (const auto by : {"call_tool", "call_read_tool"}) {
    const auto refused = client.call("a_stritc", "{}", {}, by);
    EXPECT_EQ(refused.at("result").at("isError"), true) << refused;
    EXPECT_THAT(text_of(refused), AllOf(HasSubstr("no tool a_stritc"), HasSubstr("a_strict")));
  }
}

// SRC-02, SRC-04: a tool that the caller may not use does not exist for it, by whatever name it is called.
TEST_P(CallTool, ReachesNothingThatTheCallerMayNotUse) {
  TestGateway gateway({settings()}, searching());
  gateway.discover();
  const auto refused = gateway.call("call_tool", naming("a_fails"), bearer("reader"));
  EXPECT_EQ(refused.at("result").at("isError"), true);
  EXPECT_THAT(text_of(refused), ::testing::Not(HasSubstr("it broke")));
  EXPECT_EQ(gateway.call("call_tool", naming("a_strict", R"({"n":3})"), bearer("reader"))
                .at("result")
                .at("structuredContent")
                .at("n"),
            3);
}

// SRC-09: the answer says what is wrong with a call.
TEST(CallToolArguments, AreRefusedClearly) {
  Upstream upstream;
  TestGateway gateway({upstream_at("up", upstream.port)}, searching());
  gateway.discover();
  const auto said = [&](std::string_view arguments) {
    const auto answer = gateway.call("call_tool", arguments, bearer("agent"));
    EXPECT_EQ(answer.at("result").at("isError"), true) << arguments;
    return text_of(answer);
  };
  EXPECT_THAT(said("{}"), HasSubstr("name must be a string"));
  EXPECT_THAT(said(R"({"name":7})"), HasSubstr("name must be a string"));
  EXPECT_THAT(said(R"({"name":"up_echo","arguments":"{}"})"), HasSubstr("arguments must be an object"));
  EXPECT_THAT(said(R"({"name":"up_echo","args":{}})"), HasSubstr("no parameter args"));
  EXPECT_THAT(said(R"({"name":"call_tool","arguments":{"name":"up_echo"}})"), HasSubstr("does not call itself"));
  EXPECT_THAT(said(R"({"name":"","arguments":{}})"), HasSubstr("no tool"));
  EXPECT_THAT(said(R"({"name":"up\u0000\u001b[31m","arguments":{}})"), HasSubstr("no tool"));
  const std::string long_name(1U << 20U, 'x');
  EXPECT_THAT(said(naming(long_name)), HasSubstr("no tool xxx"));
  EXPECT_EQ(gateway.call("call_tool", R"({"name":"up_echo"})", bearer("agent")).at("result").at("content").is_array(),
            true);
  const auto through = gateway.call("call_tool", naming("search_tools", R"({"query":"echoes"})"), bearer("agent"));
  EXPECT_THAT(found_by(through), ::testing::ElementsAre("up_echo"));
}

}  // namespace
}  // namespace proteus::gateway
