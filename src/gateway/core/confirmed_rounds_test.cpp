// Confirmed calls of modern clients that need more rounds, because the upstream asks something itself.
#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"
#include "mcp/errors.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using catalog::Confirm;
using server::text_of;
using ::testing::HasSubstr;

constexpr std::string_view kConfirmed = R"({"confirmation":{"action":"accept","content":{"confirmed":true}}})";

// SHP-04: a legacy upstream sends the user to a page, and the call runs anew after that.
TEST(ConfirmedRounds, RunOnceMoreAfterAVisit) {
  std::atomic<int> calls = 0;
  AskingUpstream upstream(legacy_only());
  upstream.add("buy", [&calls](server::Context&) -> server::Outcome<server::ToolResult> {
    if (++calls > 1) return server::ToolResult::text("bought");
    return mcp::errors::remote(
        mcp::code::kLegacyUrlElicitationRequired, "visit the shop",
        R"({"elicitations":[{"mode":"url","elicitationId":"pay","url":"https://shop.example/","message":"Pay."}]})");
  });
  auto settings = upstream_at("a", upstream.port);
  settings.tools = {{.match = {"buy"}, .confirm = Confirm::always}};
  TestGateway gateway({settings});
  gateway.discover();
  ModernClient modern(gateway);
  const auto visit = modern.again("a_buy", modern.call("a_buy"), kConfirmed);
  ASSERT_TRUE(asks(visit)) << boost::json::serialize(visit);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(text_of(modern.again("a_buy", visit, R"({"pay":{"action":"accept"}})")), "bought");
  EXPECT_EQ(calls, 2);
}

// SHP-04: the approval is for the same arguments in every round.
TEST(ConfirmedRounds, GoOnOnlyWithWhatWasApproved) {
  AskingUpstream upstream(modern_only());
  upstream.server
      .add_tool({.name = "move",
                 .description = "Asks",
                 .input_schema = {{"type", "object"}, {"properties", {{"tenant", {{"type", "string"}}}}}}},
                [&upstream](server::Context& context) -> server::Outcome<server::ToolResult> {
                  if (context.answer("name") == nullptr) return server::Ask().elicit("name", "Whose?", name_form());
                  ++upstream.runs;
                  return server::ToolResult::text("moved");
                })
      .value();
  auto settings = upstream_at("a", upstream.port);
  settings.tools = {{.match = {"move"}, .fixed = {{"tenant", "acme"}}, .confirm = Confirm::always}};
  TestGateway gateway({settings});
  gateway.discover();
  ModernClient modern(gateway);
  const auto asked = modern.again("a_move", modern.call("a_move"), kConfirmed);
  ASSERT_TRUE(asks(asked)) << boost::json::serialize(asked);
  settings.tools.front().fixed = {{"tenant", "other"}};
  gateway.set({settings}).value();
  gateway.discover();
  const auto answered = modern.again("a_move", asked, fmt::format(R"({{"name":{}}})", kAda));
  EXPECT_THAT(text_of(answered), HasSubstr("was changed while confirmation was awaited"));
  EXPECT_EQ(upstream.runs, 0);
}

// SHP-04: the upstream had asked before the operator wanted confirmations.
TEST(ConfirmedRounds, AreConfirmedThoughTheyBeganWithout) {
  AskingUpstream upstream(modern_only());
  auto settings = upstream_at("a", upstream.port);
  TestGateway gateway({settings});
  gateway.discover();
  ModernClient modern(gateway);
  const auto name = modern.call("a_greet");
  ASSERT_TRUE(asks(name));
  settings.tools = {{.match = {"greet"}, .confirm = Confirm::always}};
  gateway.set({settings}).value();
  gateway.discover();
  const auto confirmation = modern.again("a_greet", name, fmt::format(R"({{"name":{}}})", kAda));
  ASSERT_TRUE(asks(confirmation)) << boost::json::serialize(confirmation);
  EXPECT_TRUE(confirmation.at("result").at("inputRequests").as_object().contains("confirmation"));
  EXPECT_EQ(upstream.runs, 0);
}

}  // namespace
}  // namespace proteus::gateway
