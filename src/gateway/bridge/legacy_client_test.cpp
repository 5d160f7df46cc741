#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::code_of;
using server::LegacyClient;
using server::rpc;
using server::text_of;
using ::testing::HasSubstr;

class LegacyToModern : public ::testing::Test {
 protected:
  AskingUpstream upstream{modern_only()};
  TestGateway gateway{{unprefixed()}};

  providers::UpstreamSettings unprefixed() {
    auto settings = upstream_at("young", upstream.port);
    settings.prefix = "";
    return settings;
  }
  void SetUp() override { gateway.discover(); }

  static RawClient::Answer start(LegacyClient& client, std::string_view tool) {
    client.client.send_request("POST", client.fields(),
                               rpc("7", "tools/call", fmt::format(R"("name":"{}","arguments":{{}})", tool)));
    return client.client.read_answer();
  }
  // The next message of the client's stream. Skips the event without data that may come first.
  static std::optional<RawClient::Event> next(LegacyClient& client) {
    auto event = client.client.read_event();
    while (event && event->data.empty())
      event = client.client.read_event();
    return event;
  }
  // Reads the question on the stream of a call, and answers it.
  void answer_next(LegacyClient& client, std::string_view method, std::string_view result) {
    const auto question = next(client);
    ASSERT_TRUE(question);
    EXPECT_EQ(question->json().at("method").as_string(), method);
    RawClient other(gateway.port());
    const auto accepted = other.request("POST", client.fields(),
                                        fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})",
                                                    boost::json::serialize(question->json().at("id")), result));
    EXPECT_EQ(accepted.status, 202);
  }
};

// BRG-02
TEST_F(LegacyToModern, AsksOnTheStreamOfTheCall) {
  LegacyClient client(gateway.port(), "2025-11-25", kEverything);
  start(client, "greet");
  answer_next(client, "elicitation/create", kAda);
  const auto done = next(client);
  ASSERT_TRUE(done);
  EXPECT_EQ(text_of(done->json()), "Hello, Ada");
  EXPECT_EQ(done->json().at("id"), 7);
  EXPECT_EQ(upstream.runs, 1);
}

// BRG-02, BRG-03
TEST_F(LegacyToModern, AsksRoundByRoundAndSeveralAtOnce) {
  LegacyClient client(gateway.port(), "2025-11-25", kEverything);
  start(client, "two_rounds");
  answer_next(client, "elicitation/create", kAda);
  answer_next(client, "elicitation/create", R"({"action":"cancel"})");
  EXPECT_EQ(text_of(next(client)->json()), "Ada and cancel");

  LegacyClient both(gateway.port(), "2025-11-25", kEverything);
  start(both, "both");
  answer_next(both, "elicitation/create", kAda);
  answer_next(both, "roots/list", R"({"roots":[{"uri":"file:///a"}]})");
  EXPECT_THAT(text_of(next(both)->json()), HasSubstr("file:///a"));
}

// BRG-02, BRG-03, PRO-06, PRO-09
TEST_F(LegacyToModern, GoesOnWithAClientThatWentAwayWhileItWasAsked) {
  LegacyClient client(gateway.port(), "2025-11-25", kEverything);
  start(client, "two_rounds");
  const auto primed = client.client.read_event();
  ASSERT_TRUE(primed && primed->data.empty() && !primed->id.empty());
  const auto asked = next(client);
  ASSERT_TRUE(asked);
  client.client.close();

  const auto resume = [&](const std::string& after) {
    auto resumed = std::make_unique<RawClient>(gateway.port());
    const std::string fields =
        fmt::format("{}Last-Event-ID: {}\r\nAccept: text/event-stream\r\n", client.fields(), after);
    EXPECT_EQ(resumed->request("GET", fields).status, 200);
    return resumed;
  };
  const auto answer = [&](const RawClient::Event& question) {
    RawClient other(gateway.port());
    const auto accepted = other.request("POST", client.fields(),
                                        fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})",
                                                    boost::json::serialize(question.json().at("id")), kAda));
    EXPECT_EQ(accepted.status, 202);
  };
  // The client received nothing of the question: it is repeated once.
  const auto again = resume(primed->id);
  const auto repeated = again->read_event();
  ASSERT_TRUE(repeated);
  EXPECT_EQ(repeated->data, asked->data);
  answer(*repeated);
  const auto second = again->read_event();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->json().at("params").at("message"), "Second?");
  again->close();

  // The client received the question: the answer to the call follows.
  const auto last = resume(second->id);
  answer(*second);
  const auto done = last->read_event();
  ASSERT_TRUE(done);
  EXPECT_EQ(text_of(done->json()), "Ada and Ada");
  EXPECT_EQ(done->json().at("id"), 7);
  EXPECT_FALSE(last->read_event());
  EXPECT_EQ(upstream.runs, 1);
}

// SEC-07
TEST_F(LegacyToModern, CountsACallWhileItsClientIsAsked) {
  TestGateway narrow({unprefixed()}, {.quotas = {.calls_per_principal = 1}});
  narrow.discover();
  LegacyClient waiting(narrow.port(), "2025-11-25", kEverything);
  start(waiting, "greet");
  const auto question = next(waiting);
  ASSERT_TRUE(question);
  LegacyClient other(narrow.port(), "2025-11-25", kEverything);
  EXPECT_TRUE(other.call("8", "greet").json().as_object().contains("error"));
  RawClient(narrow.port())
      .request("POST", waiting.fields(),
               fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})",
                           boost::json::serialize(question->json().at("id")), kAda));
  EXPECT_EQ(text_of(next(waiting)->json()), "Hello, Ada");
  start(other, "greet");
  EXPECT_TRUE(next(other));
}

// BRG-06
TEST_F(LegacyToModern, EndsWhileSomebodyIsAsked) {
  LegacyClient client(gateway.port(), "2025-11-25", kEverything);
  start(client, "greet");
  ASSERT_TRUE(next(client));
}

// BRG-05
TEST_F(LegacyToModern, AsksNobodyWhoCannotBeAsked) {
  LegacyClient mute(gateway.port());
  const auto refused = mute.call("7", "greet").json();
  ASSERT_TRUE(refused.as_object().contains("result")) << refused;
  EXPECT_TRUE(refused.at("result").at("isError").as_bool());
  EXPECT_THAT(text_of(refused), HasSubstr("elicitation"));
  EXPECT_EQ(upstream.runs, 0);
}

// BRG-08
TEST_F(LegacyToModern, SpeaksTheLegacyDialect) {
  upstream.server
      .add_tool({.name = "numbers", .description = "Counts", .output_schema = boost::json::object{{"type", "array"}}},
                [](server::Context&) -> server::Outcome<server::ToolResult> {
                  return server::ToolResult::json(boost::json::array{1, 2});
                })
      .value();
  gateway.refresh("young");
  LegacyClient client(gateway.port());
  const auto listed = client.post(rpc("1", "tools/list", "")).json().at("result");
  EXPECT_FALSE(listed.as_object().contains("resultType"));
  EXPECT_FALSE(listed.as_object().contains("ttlMs"));
  for (const auto& tool : listed.at("tools").as_array())
    EXPECT_FALSE(tool.as_object().contains("outputSchema")) << "an output that is not an object is of the modern era";
  const auto counted = client.call("2", "numbers").json().at("result");
  EXPECT_FALSE(counted.as_object().contains("structuredContent"));
  EXPECT_EQ(counted.at("content").at(0).at("text"), "[1,2]");
  const auto missing = client.post(rpc("3", "resources/read", R"("uri":"test://nothing")")).json();
  EXPECT_EQ(code_of(missing), -32002);

  ModernClient modern(gateway);
  EXPECT_TRUE(modern.call("numbers").at("result").as_object().contains("structuredContent"));
}

// BRG-09
TEST_F(LegacyToModern, PassesOnWhatIsLogged) {
  upstream.add("chatty", [](server::Context& context) -> server::Outcome<server::ToolResult> {
    context.log(server::LogLevel::info, "it begins");
    context.log(server::LogLevel::debug, "details");
    return server::ToolResult::text("done");
  });
  gateway.refresh("young");
  LegacyClient client(gateway.port());
  start(client, "chatty");
  EXPECT_THAT(next(client)->data, HasSubstr("it begins"));
  EXPECT_EQ(text_of(next(client)->json()), "done") << "details were not asked for";
  EXPECT_FALSE(next(client));
  client.post(rpc("8", "logging/setLevel", R"("level":"debug")"));
  start(client, "chatty");
  EXPECT_THAT(next(client)->data, HasSubstr("it begins"));
  EXPECT_THAT(next(client)->data, HasSubstr("details"));
}

// BRG-10
TEST_F(LegacyToModern, OffersWhatItsEraCanExpress) {
  LegacyClient client(gateway.port());
  const auto& offered = client.hello.at("result").at("capabilities").as_object();
  EXPECT_TRUE(offered.at("tools").at("listChanged").as_bool());
  EXPECT_TRUE(offered.contains("prompts"));
  EXPECT_TRUE(offered.contains("resources"));
  EXPECT_FALSE(offered.contains("completions")) << "nobody behind the gateway completes anything";
}

}  // namespace
}  // namespace proteus::gateway
