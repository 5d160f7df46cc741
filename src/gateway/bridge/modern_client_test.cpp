#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::code_of;
using server::text_of;
using ::testing::HasSubstr;

std::string answered(std::string_view key, std::string_view answer = kAda) {
  return fmt::format(R"({{"{}":{}}})", key, answer);
}

// A call that must open its session first, or one that is sent at once.
enum class Call { first, later };

class ModernToLegacy : public ::testing::TestWithParam<Call> {
 protected:
  AskingUpstream upstream{legacy_only()};
  // Each worker has its own connections.
  TestGateway gateway{{unprefixed()}, {.workers = GetParam() == Call::later ? 1U : 2U}};
  ModernClient client{gateway};

  providers::UpstreamSettings unprefixed() {
    auto settings = upstream_at("old", upstream.port);
    settings.prefix = "";
    if (GetParam() == Call::later) settings.anonymous_sessions = providers::AnonymousSessions::shared;
    return settings;
  }
  void SetUp() override {
    upstream.add("plain", [](server::Context&) { return server::ToolResult::text("said"); });
    gateway.discover();
    if (GetParam() == Call::later) ASSERT_EQ(text_of(client.call("plain")), "said");
  }
};

INSTANTIATE_TEST_SUITE_P(Calls, ModernToLegacy, ::testing::Values(Call::first, Call::later),
                         [](const auto& call) { return call.param == Call::first ? "First" : "Later"; });

// BRG-01
TEST_P(ModernToLegacy, TurnsAQuestionIntoANeedForInput) {
  const auto asked = client.call("greet");
  ASSERT_TRUE(asks(asked)) << asked;
  const auto& question = asked.at("result").at("inputRequests").at("name");
  EXPECT_EQ(question.at("method"), "elicitation/create");
  EXPECT_EQ(question.at("params").at("message"), "Your name?");
  EXPECT_FALSE(question.at("params").as_object().contains("_meta"));
  EXPECT_EQ(text_of(client.again("greet", asked, answered("name"))), "Hello, Ada");
  EXPECT_EQ(upstream.runs, 1);
  EXPECT_EQ(gateway.gateway.service().parked().size(), 0U);
}

// BRG-01, PRO-10
TEST_P(ModernToLegacy, RunsOnceHoweverOftenTheRetryIsSent) {
  const auto asked = client.call("greet");
  EXPECT_EQ(text_of(client.again("greet", asked, answered("name"))), "Hello, Ada");
  const auto again = client.again("greet", asked, answered("name"));
  EXPECT_EQ(code_of(again), -32602);
  EXPECT_THAT(std::string(again.at("error").at("message").as_string()), HasSubstr("without requestState"));
  EXPECT_EQ(upstream.runs, 1);
}

// BRG-01, PRO-10
TEST_P(ModernToLegacy, LetsOneOfTwoRetriesAtOnceGoOn) {
  const auto asked = client.call("greet");
  const auto answer = [&] { return client.again("greet", asked, answered("name")); };
  auto other = std::async(std::launch::async, answer);
  const auto one = answer();
  const auto two = other.get();
  EXPECT_NE(one.as_object().contains("error"), two.as_object().contains("error"));
  EXPECT_EQ(upstream.runs, 1);
}

// BRG-01: access is checked in each round, and a call that its caller may no longer finish is cancelled.
TEST_P(ModernToLegacy, DoesNotGoOnForACallerThatHasLostTheUpstream) {
  const auto asked = client.call("greet");
  ASSERT_TRUE(asks(asked)) << asked;
  ASSERT_TRUE(gateway.set({}));
  const auto refused = client.again("greet", asked, answered("name"));
  EXPECT_EQ(code_of(refused), code_of(client.call("greet"))) << refused;
  EXPECT_EQ(upstream.runs, 0);
  EXPECT_EQ(gateway.gateway.service().parked().size(), 0U);
}

// BRG-03
TEST_P(ModernToLegacy, AsksRoundByRound) {
  const auto first = client.call("two_rounds");
  ASSERT_TRUE(asks(first)) << first;
  const auto second = client.again("two_rounds", first, answered("first"));
  ASSERT_TRUE(asks(second)) << second;
  EXPECT_TRUE(second.at("result").at("inputRequests").as_object().contains("second"));
  EXPECT_NE(first.at("result").at("requestState"), second.at("result").at("requestState"));
  const auto done = client.again("two_rounds", second, answered("second", R"({"action":"decline"})"));
  EXPECT_EQ(text_of(done), "Ada and decline");
  EXPECT_EQ(upstream.runs, 1);
}

// BRG-03
TEST_P(ModernToLegacy, TellsQuestionsThatComeTogetherTogether) {
  boost::json::value asked;
  // On a busy machine the second question may come too late for the same round.
  wait_until([&] {
    asked = client.call("both");
    return asks(asked) && asked.at("result").at("inputRequests").as_object().size() == 2;
  });
  const auto done =
      client.again("both", asked, fmt::format(R"({{"first":{},"roots":{{"roots":[]}},"more":{{}}}})", kAda));
  EXPECT_EQ(text_of(done), "Ada has []") << "and what nobody asked for does no harm";
}

// BRG-03
TEST_P(ModernToLegacy, AsksAgainForWhatIsMissing) {
  const auto asked = client.call("both");
  const auto half = client.again("both", asked, answered("first"));
  ASSERT_TRUE(asks(half)) << half;
  const auto& open = half.at("result").at("inputRequests").as_object();
  EXPECT_EQ(open.size(), 1U);
  EXPECT_TRUE(open.contains("roots"));
  EXPECT_EQ(text_of(client.again("both", half, R"({"roots":{"roots":[]}})")), "Ada has []");
  EXPECT_EQ(upstream.runs, 1);
}

// BRG-03
TEST_P(ModernToLegacy, TakesAnswersThatComeBeforeTheQuestion) {
  const auto done = client.call("greet", fmt::format(R"(,"inputResponses":{})", answered("name")));
  EXPECT_EQ(text_of(done), "Hello, Ada");
}

// BRG-04
TEST_P(ModernToLegacy, AsksForPromptsAndResourcesToo) {
  const auto prompt = client.send("prompts/get", "letter", R"("name":"letter")").json();
  ASSERT_TRUE(asks(prompt)) << prompt;
  const std::string back = ModernClient::with_answers(prompt, answered("name"));
  const auto letter = client.send("prompts/get", "letter", R"("name":"letter")" + back).json();
  EXPECT_EQ(letter.at("result").at("messages").at(0).at("content").at("text"), "Dear Ada");

  const auto read = client.send("resources/read", "test://secret", R"("uri":"test://secret")").json();
  ASSERT_TRUE(asks(read)) << read;
  const std::string with = ModernClient::with_answers(read, answered("name"));
  const auto secret = client.send("resources/read", "test://secret", R"("uri":"test://secret")" + with).json();
  EXPECT_EQ(secret.at("result").at("contents").at(0).at("text"), "for Ada");
  EXPECT_TRUE(secret.at("result").as_object().contains("ttlMs"));
}

// BRG-05
TEST_P(ModernToLegacy, AsksNobodyWhoCannotBeAsked) {
  ModernClient mute(gateway, "{}");
  const auto refused = mute.send("tools/call", "greet", R"("name":"greet","arguments":{})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(code_of(refused.json()), -32021);
  EXPECT_TRUE(refused.json().at("error").at("data").at("requiredCapabilities").as_object().contains("elicitation"));
  EXPECT_EQ(upstream.runs, 0);
}

// PRO-10
TEST_P(ModernToLegacy, RefusesAStateThatIsNotForThisRequest) {
  const auto asked = client.call("greet");
  const std::string state(asked.at("result").at("requestState").as_string());
  const auto with = [](std::string_view text) {
    return fmt::format(R"(,"requestState":"{}","inputResponses":{})", text, answered("name"));
  };
  EXPECT_EQ(code_of(client.call("greet", with(state.substr(0, state.size() - 1)))), -32602) << "cut";
  EXPECT_EQ(code_of(client.call("greet", with(state + "AAAA"))), -32602) << "longer";
  EXPECT_EQ(code_of(client.call("two_rounds", with(state))), -32602) << "of another request";
  EXPECT_EQ(upstream.runs, 0);
  EXPECT_EQ(text_of(client.again("greet", asked, answered("name"))), "Hello, Ada") << "it waits nevertheless";
}

// BRG-06
TEST_P(ModernToLegacy, CancelsWhatItWaitsForWhenTheGatewayEnds) {
  AskingUpstream other{legacy_only()};
  {
    TestGateway ending({upstream_at("old", other.port)});
    ending.discover();
    ModernClient asked(ending);
    ASSERT_TRUE(asks(asked.call("old_greet")));
  }
  EXPECT_EQ(other.runs, 0);
}

// BRG-08
TEST_P(ModernToLegacy, SpeaksTheModernDialect) {
  const auto missing = client.send("resources/read", "test://nothing", R"("uri":"test://nothing")").json();
  EXPECT_EQ(code_of(missing), -32602);
  EXPECT_EQ(missing.at("error").at("data").at("uri"), "test://nothing");
  const auto list = client.send("tools/list", "", R"("x":1)").json().at("result");
  EXPECT_EQ(list.at("resultType"), "complete");
  EXPECT_TRUE(list.as_object().contains("cacheScope"));
  for (const std::string_view gone : {"ping", "logging/setLevel", "resources/subscribe"}) {
    const auto answer = client.send(gone, "", R"("uri":"test://secret","level":"info")");
    EXPECT_EQ(answer.status, 404) << gone;
    EXPECT_EQ(code_of(answer.json()), -32601) << gone;
  }
}

TEST(ParkedCalls, BelongToWhoWasAsked) {
  // PRO-10
  AskingUpstream upstream(legacy_only());
  TestGateway::Setup setup;
  setup.principals = {{.name = "ada", .token = Secret("ada-token")}, {.name = "bob", .token = Secret("bob-token")}};
  TestGateway gateway({upstream_at("old", upstream.port)}, std::move(setup));
  gateway.discover();
  ModernClient ada(gateway, kEverything, "ada-token");
  ModernClient bob(gateway, kEverything, "bob-token");
  const auto asked = ada.call("old_greet");
  ASSERT_TRUE(asks(asked)) << asked;
  EXPECT_EQ(code_of(bob.again("old_greet", asked, answered("name"))), -32602);
  EXPECT_EQ(upstream.runs, 0);
  EXPECT_EQ(text_of(ada.again("old_greet", asked, answered("name"))), "Hello, Ada");
}

// BRG-06
TEST(ParkedCalls, AreNoMoreThanAllowed) {
  AskingUpstream upstream(legacy_only());
  TestGateway::Setup setup;
  setup.parking.per_principal = 2;
  TestGateway gateway({upstream_at("old", upstream.port)}, std::move(setup));
  gateway.discover();
  ModernClient client(gateway);
  const auto first = client.call("old_greet");
  ASSERT_TRUE(asks(first)) << first;
  ASSERT_TRUE(asks(client.call("old_greet")));
  const auto refused = client.call("old_greet");
  EXPECT_THAT(std::string(refused.at("error").at("message").as_string()), HasSubstr("wait for input"));
  EXPECT_EQ(text_of(client.again("old_greet", first, answered("name"))), "Hello, Ada");
  EXPECT_TRUE(asks(client.call("old_greet"))) << "there is room again";
}

// BRG-06
TEST(ParkedCalls, EndWithTheirUpstream) {
  auto upstream = std::make_unique<AskingUpstream>(legacy_only());
  auto settings = upstream_at("old", upstream->port);
  settings.call_timeout = 3s;  // how long the call may wait for the upstream to return
  TestGateway gateway({settings});
  gateway.discover();
  ModernClient client(gateway);
  const auto asked = client.call("old_greet");
  ASSERT_TRUE(asks(asked)) << asked;
  upstream = nullptr;
  const auto failed = client.again("old_greet", asked, answered("name"));
  EXPECT_THAT(std::string(failed.at("error").at("message").as_string()), HasSubstr("this server stops"));
  EXPECT_EQ(gateway.gateway.service().parked().size(), 0U);
}

// BRG-06
TEST(ParkedCalls, EndWhenTheirTimeIsOver) {
  AskingUpstream upstream(legacy_only());
  TestGateway::Setup setup;
  setup.parking.deadline = 1ms;
  TestGateway gateway({upstream_at("old", upstream.port)}, std::move(setup));
  gateway.discover();
  ModernClient client(gateway);
  const auto asked = client.call("old_greet");
  ASSERT_TRUE(asks(asked)) << asked;
  wait_until([&] { return gateway.gateway.service().parked().size() == 0; });
  EXPECT_EQ(code_of(client.again("old_greet", asked, answered("name"))), -32602);
  EXPECT_EQ(upstream.runs, 0);
}

}  // namespace
}  // namespace proteus::gateway
