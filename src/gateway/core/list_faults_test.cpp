// REF-34: each kind of list succeeds or fails on its own.
#include <gmock/gmock.h>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using client::ListFault;
using providers::UpstreamState;
using test::Reaction;
using test::ScriptedUpstream;
using test::small_lists;
using test::TestGateway;
using test::upstream_at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// Answers one method with `reaction`, and lists one entry of each kind otherwise.
ScriptedUpstream::Answer lists_but(std::string method, Reaction reaction) {
  return [method = std::move(method), reaction](const boost::json::object& message) -> Reaction {
    if (message.at("method").as_string() == method) return reaction;
    return small_lists(message).value();
  };
}

Reaction no_such_method() { return Reaction::error(R"({"code":-32601,"message":"Method not found"})"); }

std::size_t listed(TestGateway& gateway, const std::string& method, const std::string& member) {
  return gateway.ask(method).at("result").at(member).as_array().size();
}

TEST(ListFaults, NamesTheMethodThatIsDeclaredAndNotImplemented) {
  ScriptedUpstream upstream(lists_but("prompts/list", no_such_method()));
  TestGateway gateway({upstream_at("up", upstream.port())});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("up_tool"));
  EXPECT_EQ(listed(gateway, "prompts/list", "prompts"), 0U);
  EXPECT_EQ(listed(gateway, "resources/list", "resources"), 1U);
  const auto status = gateway.status("up");
  EXPECT_EQ(status.state, UpstreamState::connected);
  ASSERT_EQ(status.list_faults.size(), 1U);
  EXPECT_EQ(status.list_faults[0].kind, catalog::Kind::prompt);
  EXPECT_EQ(status.list_faults[0].cause, ListFault::Cause::unimplemented);
  EXPECT_THAT(status.list_faults[0].message, HasSubstr("prompts/list"));
}

TEST(ListFaults, ServesTheOtherListsOfAnUpstreamThatHangsInOne) {
  ScriptedUpstream upstream(lists_but("tools/list", Reaction::hang()));
  auto settings = upstream_at("up", upstream.port());
  settings.timeout = 500ms;
  TestGateway gateway({settings});
  gateway.discover();
  // On a busy machine, the other lists may need more than one reading.
  test::wait_until([&] {
    return listed(gateway, "prompts/list", "prompts") == 1U && listed(gateway, "resources/list", "resources") == 1U &&
           gateway.status("up").list_faults.size() == 1;
  });
  const auto status = gateway.status("up");
  EXPECT_EQ(status.state, UpstreamState::degraded);
  EXPECT_THAT(status.last_error, HasSubstr("tools/list"));
  ASSERT_EQ(status.list_faults.size(), 1U);
  EXPECT_EQ(status.list_faults[0].cause, ListFault::Cause::failed);
}

TEST(ListFaults, FailsWhereNothingCanBeRead) {
  ScriptedUpstream upstream([](const boost::json::object&) { return Reaction::body("{"); });
  TestGateway gateway({upstream_at("up", upstream.port())});
  gateway.discover();
  const auto result = gateway.refresh("up");
  ASSERT_TRUE(result.error);
  EXPECT_GE(gateway.status("up").consecutive_failures, 1U);
}

// PRX-03
TEST(ListFaults, ALiveListThatIsNotImplementedIsEmptyAndNamed) {
  ScriptedUpstream upstream(lists_but("prompts/list", no_such_method()));
  auto settings = upstream_at("up", upstream.port());
  settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  TestGateway gateway({settings});
  gateway.discover();
  EXPECT_THAT(gateway.status("up").list_faults, IsEmpty());
  const auto prompts = gateway.ask("prompts/list").at("result").as_object();
  EXPECT_TRUE(prompts.at("prompts").as_array().empty());
  EXPECT_FALSE(prompts.contains("_meta") && prompts.at("_meta").as_object().contains("proteus/missing"));
  EXPECT_THAT(gateway.tools(), ElementsAre("up_tool"));
  const auto status = gateway.status("up");
  ASSERT_EQ(status.list_faults.size(), 1U);
  EXPECT_THAT(status.list_faults[0].message, HasSubstr("prompts/list"));
}

// PRX-09
TEST(ListFaults, ALiveAnswerWithoutAListIsAnError) {
  ScriptedUpstream upstream(lists_but("tools/list", Reaction(R"({"resultType":"complete"})")));
  auto settings = upstream_at("up", upstream.port());
  settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  TestGateway gateway({settings});
  gateway.discover();
  EXPECT_THAT(gateway.ask("tools/list").at("error").at("message").as_string().c_str(), HasSubstr("up"));
}

}  // namespace
}  // namespace proteus::gateway
