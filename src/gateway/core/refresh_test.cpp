#include <algorithm>
#include <future>

#include <gmock/gmock.h>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"
#include "net/testing/closed_port.hpp"
#include "store/testing/full_store.hpp"

namespace proteus::gateway {
namespace {

using providers::UpstreamState;
using test::kPatience;
using test::Reaction;
using test::ScriptedUpstream;
using test::small_lists;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;
using test::wait_until;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

TEST(Refresh, ServesWhatUpstreamsOfferUnderTheirPrefixes) {
  Upstream a({"one", "two"});
  Upstream b({"one"});
  TestGateway gateway({upstream_at("a", a.port), upstream_at("b", b.port)});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("a_one", "a_two", "b_one"));
  EXPECT_EQ(gateway.call("b_one", R"({"x":[1,2.50]})").at("result").at("structuredContent").at("x").at(0), 1);
}

// REF-06, REF-08, REF-09, REF-16
TEST(Refresh, ShowsWhatChangedWhenTheUpstreamSaysSo) {
  Upstream a({"one"});
  TestGateway gateway({upstream_at("a", a.port)});
  gateway.discover();
  const auto first = gateway.status("a").last_refresh_at;
  a.add("two");
  wait_until([&] { return gateway.tools().size() == 2; });
  EXPECT_GE(gateway.status("a").last_refresh_at, first);

  a.add("one", "Says something else");
  a.server.remove_tool("two");
  wait_until([&] { return gateway.tools().size() == 1; });
  const auto refreshed = gateway.refresh("a");
  EXPECT_TRUE(refreshed.ok());
  EXPECT_TRUE(refreshed.change.empty()) << "everything was seen before";
}

// REF-08, REF-10
TEST(Refresh, SaysWhatWasAddedRemovedAndChangedWhenAsked) {
  Upstream a({"one", "two"});
  auto settings = upstream_at("a", a.port);
  settings.event_driven_refresh = false;
  TestGateway gateway({settings});
  gateway.discover();
  a.add("three");
  a.add("one", "Says something else");
  a.server.remove_tool("two");
  EXPECT_EQ(gateway.tools().size(), 2U) << "nothing is read again by itself";
  const auto result = gateway.refresh("a");
  const auto& tools = result.change.kinds[catalog::Kind::tool];
  EXPECT_THAT(tools.added, ElementsAre("a_three"));
  EXPECT_THAT(tools.removed, ElementsAre("a_two"));
  ASSERT_EQ(tools.changed.size(), 1U);
  EXPECT_EQ(tools.changed[0].name, "a_one");
  EXPECT_EQ(tools.changed[0].compatibility, catalog::Compatibility::compatible);
}

// REF-05
TEST(Refresh, PollsOnlyWhereThatIsWanted) {
  Upstream a({"one"});
  auto settings = upstream_at("a", a.port);
  settings.event_driven_refresh = false;
  settings.auto_refresh = true;
  settings.refresh_interval = 10ms;
  TestGateway gateway({settings});
  gateway.discover();
  a.add("two");
  wait_until([&] { return gateway.tools().size() == 2; });
}

// A modern upstream that declares announcements, and answers `subscriptions/listen` as the test wants.
class Announcing : public ::testing::Test {
 protected:
  Reaction react(const boost::json::object& message) {
    const auto& method = message.at("method").as_string();
    if (method == "server/discover") {
      return std::string(
          R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},)"
          R"("resources":{"subscribe":true}},"ttlMs":0,"cacheScope":"private",)"
          R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}})");
    }
    if (method == "initialize") return Reaction::refuse(400);
    if (method == "subscriptions/listen") return on_listen(message);
    return small_lists(message).value();
  }
  // Accepts the subscription and ends the stream at once, which is not a refusal.
  static Reaction agree(const boost::json::object& message) {
    return Reaction::events(fmt::format(
        "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":"
        "{{\"notifications\":{},\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{}}}}}}}\n\n",
        boost::json::serialize(message.at("params").at("notifications")), boost::json::serialize(message.at("id"))));
  }
  std::size_t lists() { return upstream.received("tools/list").size(); }

  std::function<Reaction(const boost::json::object&)> on_listen;  // set before the gateway starts
  ScriptedUpstream upstream{[this](const boost::json::object& message) { return react(message); },
                            ScriptedUpstream::Discover::scripted};
};

// REF-16
TEST_F(Announcing, IsAskedAgainWhereItCouldNotAnnounceAtFirst) {
  std::atomic<int> asked = 0;
  std::promise<std::size_t> agreeing;
  on_listen = [&](const boost::json::object& message) {
    const int times = ++asked;
    if (times <= 2) return Reaction::drop();
    if (times == 3) agreeing.set_value(lists());
    return agree(message);
  };
  TestGateway gateway({upstream_at("up", upstream.port())});
  const std::size_t lists_before = agreeing.get_future().get();
  // Changes before that were announced to nobody, so the lists are read again.
  wait_until([&] { return lists() > lists_before; });
}

// REF-12, REF-16
TEST_F(Announcing, HoldsUpNothingWhereItNeverAgrees) {
  std::atomic<int> asked = 0;
  on_listen = [&](const boost::json::object&) { return ++asked == 1 ? Reaction::drop() : Reaction::hang(); };
  auto settings = upstream_at("up", upstream.port());
  settings.timeout = 2 * kPatience;
  TestGateway gateway({settings});
  wait_until([&] { return asked >= 2; });
  EXPECT_FALSE(gateway.refresh("up").error);
}

// REF-16: a refused resource of one client does not cost the others their announcements.
TEST_F(Announcing, TellsOfItsListsWhereItTellsOfNoResources) {
  std::atomic<bool> refused = false;
  std::atomic<bool> agreed = false;
  on_listen = [&](const boost::json::object& message) {
    if (message.at("params").at("notifications").as_object().contains("resourceSubscriptions")) {
      refused = true;
      return Reaction::body(fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":-32602,"message":"too many"}}}})",
                                        boost::json::serialize(message.at("id"))));
    }
    if (refused) agreed = true;
    return agree(message);
  };
  TestGateway gateway({upstream_at("up", upstream.port())});
  gateway.discover();
  gateway.upstream("up")->follow({"test://r"});
  wait_until([&] { return agreed.load(); });
  EXPECT_EQ(gateway.run(gateway.upstream("up")->tells_of("test://r")).error().rpc_code(), -32602);
}

// REF-03, REF-11, REF-27
TEST(Refresh, ServesTheOthersWhileOneIsDownAndTakesItInWhenItComes) {
  Upstream a({"one"});
  const net::test::ClosedPort closed;
  TestGateway gateway({upstream_at("late", closed.number()), upstream_at("a", a.port)});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("a_one"));
  wait_until([&] { return gateway.status("late").state == UpstreamState::failed; });
  EXPECT_THAT(gateway.status("late").last_error, HasSubstr("refused"));
  EXPECT_FALSE(gateway.status("late").last_refresh_at);

  server::Server late({.name = "late", .version = "1"});
  late.add_tool(
          {.name = "here"},
          [](server::Context&) -> server::Outcome<server::ToolResult> { return server::ToolResult::text("at last"); })
      .value();
  ASSERT_TRUE(late.listen({.port = closed.number()}));
  wait_until([&] { return gateway.tools().size() == 2; });
  EXPECT_THAT(gateway.tools(), ElementsAre("late_here", "a_one"));
  // The tools are there a moment before the state changes.
  wait_until([&] { return gateway.status("late").state == UpstreamState::connected; });
  EXPECT_EQ(gateway.status("late").consecutive_failures, 0U);
}

// REF-02
TEST(Refresh, FailsTheStartWhereAnUpstreamMustBeThere) {
  auto settings = upstream_at("bank", 1);
  settings.fail_fast_on_startup = true;
  TestGateway gateway({settings});
  const auto started = gateway.run(gateway.gateway.started());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message(), HasSubstr("bank"));
}

// REF-03
TEST(Refresh, ServesWhatWasListedBeforeARestart) {
  store::MemoryStore store({});
  std::uint16_t port = 0;
  {
    Upstream a({"one"});
    port = a.port;
    TestGateway gateway({upstream_at("a", port)}, {.store = &store});
    gateway.discover();
    wait_until([&] { return gateway.run(store.snapshots()).value().size() == 4; });
  }
  TestGateway gateway({upstream_at("a", port)}, {.store = &store});
  EXPECT_THAT(gateway.tools(), ElementsAre("a_one"));
  EXPECT_THAT(std::string(gateway.call("a_one").at("error").at("message").as_string()), HasSubstr("upstream a"));
}

// REF-03: lists that could not be stored at first are stored as soon as there is room.
TEST(Refresh, KeepsListsThatADiskHadNoRoomFor) {
  store::test::FullStore store;
  store.full = true;
  Upstream a({"one"});
  TestGateway gateway({upstream_at("a", a.port)}, {.store = &store});
  gateway.discover();
  a.add("two");
  wait_until([&] { return gateway.tools().size() == 2; });
  EXPECT_THAT(gateway.run(store.snapshots()).value(), IsEmpty());
  store.full = false;
  wait_until([&] {
    gateway.gateway.drop_unused_since({});
    return !gateway.run(store.snapshots()).value().empty();
  });
  const auto kept = gateway.run(store.snapshots_of("a")).value();
  const auto tools = std::ranges::find(kept, "tools", &store::SnapshotRecord::kind);
  ASSERT_NE(tools, kept.end());
  EXPECT_THAT(tools->entries, AllOf(HasSubstr("\"one\""), HasSubstr("\"two\"")));
}

// REF-11
TEST(Refresh, KeepsTheLastGoodSetWhenARefreshFails) {
  auto a = std::make_unique<Upstream>(std::vector<std::string>{"one"});
  TestGateway gateway({upstream_at("a", a->port)});
  gateway.discover();
  a->server.stop();
  const auto result = gateway.refresh("a");
  EXPECT_FALSE(result.ok());
  EXPECT_NE(gateway.status("a").state, UpstreamState::connected);
  EXPECT_THAT(gateway.tools(), ElementsAre("a_one"));
}

// REF-14
TEST(Refresh, TellsAnAgentToListAgainWhenAToolHasGone) {
  Upstream a({"one", "two"});
  TestGateway gateway({upstream_at("a", a.port)});
  gateway.discover();
  a.server.remove_tool("two");
  wait_until([&] { return gateway.tools().size() == 1; });
  const auto error = gateway.call("a_two").at("error");
  EXPECT_EQ(error.at("code"), -32602);
  EXPECT_THAT(std::string(error.at("message").as_string()), HasSubstr("a_two"));
}

// REF-17
TEST(Refresh, ReadsAgainOnUseWhereATimeToLiveHasPassed) {
  Upstream a({"one"});
  auto settings = upstream_at("a", a.port);
  settings.ttl = 1ms;
  TestGateway gateway({settings});
  gateway.discover();
  a.add("two");
  wait_until([&] { return gateway.tools().size() == 2; });
  a.server.stop();
  EXPECT_EQ(gateway.tools().size(), 2U) << "a refresh that fails serves what was there";
}

// REF-07
TEST(Refresh, CoversPromptsResourcesAndTemplates) {
  Upstream a;
  a.server
      .add_prompt({.name = "greet"},
                  [](server::Context&) -> server::Outcome<server::PromptResult> { return server::PromptResult{}; })
      .value();
  a.server
      .add_resource({.uri = "test://a", .name = "a"},
                    [](server::Context&) -> server::Outcome<server::ResourceResult> {
                      return server::ResourceResult{.contents = {{.text = "A"}}};
                    })
      .value();
  a.server
      .add_resource_template(
          {.uri_template = "test://{id}/x", .name = "x"},
          [](server::Context& context) -> server::Outcome<server::ResourceResult> {
            return server::ResourceResult{.contents = {{.text = std::string(context.variable("id"))}}};
          })
      .value();
  TestGateway gateway({upstream_at("a", a.port)});
  gateway.discover();
  EXPECT_EQ(gateway.ask("prompts/list").at("result").at("prompts").at(0).at("name"), "a_greet");
  EXPECT_EQ(gateway.ask("prompts/get", R"("name":"a_greet")", "a_greet").as_object().count("error"), 0U);
  EXPECT_EQ(gateway.ask("resources/list").at("result").at("resources").at(0).at("uri"), "test://a");
  EXPECT_EQ(gateway.ask("resources/templates/list").at("result").at("resourceTemplates").at(0).at("uriTemplate"),
            "test://{id}/x");
  EXPECT_EQ(
      gateway.ask("resources/read", R"("uri":"test://a")", "test://a").at("result").at("contents").at(0).at("text"),
      "A");
  EXPECT_EQ(
      gateway.ask("resources/read", R"("uri":"test://7/x")", "test://7/x").at("result").at("contents").at(0).at("text"),
      "7");
}

// REF-06, REF-25
TEST(Refresh, TellsListenersOnceOfChangesThatComeTogether) {
  Upstream a({"one"});
  TestGateway gateway({upstream_at("a", a.port)}, {.debounce = 100ms});
  gateway.discover();
  test::RawClient listener(gateway.port());
  listener.send_request("POST", server::modern_fields("subscriptions/listen"),
                        server::rpc("9", "subscriptions/listen",
                                    R"("notifications":{"toolsListChanged":true},)" + server::modern_meta()));
  listener.read_answer();
  EXPECT_EQ(listener.read_event()->json().at("method"), "notifications/subscriptions/acknowledged");
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i)
    a.add(fmt::format("tool{}", i));
  wait_until([&] { return gateway.tools().size() == 21; });
  const auto windows = (std::chrono::steady_clock::now() - began) / 100ms;
  EXPECT_EQ(listener.read_event()->json().at("method"), "notifications/tools/list_changed");
  gateway.gateway.end_streams();
  int more = 0;
  while (const auto event = listener.read_event()) {
    const auto message = event->json();
    const auto* method = message.as_object().if_contains("method");
    if (method != nullptr && *method == "notifications/tools/list_changed") ++more;
  }
  EXPECT_LE(more, windows + 2) << "not one for each tool";
}

// REF-24
TEST(Refresh, EndsAnUpstreamThatIsTakenOut) {
  Upstream a({"one"});
  Upstream b({"two"});
  TestGateway gateway({upstream_at("a", a.port), upstream_at("b", b.port)});
  gateway.discover();
  ASSERT_TRUE(gateway.set({upstream_at("b", b.port)}));
  EXPECT_THAT(gateway.tools(), ElementsAre("b_two"));
  ASSERT_TRUE(gateway.set({}));
  EXPECT_THAT(gateway.tools(), IsEmpty());
}

TEST(Refresh, EndsForWhoWaitsForItWhenTheUpstreamIsTakenOut) {
  std::atomic<bool> silent = false;
  ScriptedUpstream a([&](const auto& message) -> Reaction {
    if (silent) return Reaction::hang();
    return test::small_lists(message).value_or("{}");
  });
  auto settings = upstream_at("a", a.port());
  settings.timeout = 1h;
  TestGateway gateway({settings});
  gateway.discover();
  silent = true;
  const auto before = a.received("tools/list").size();
  const auto served = *gateway.gateway.upstreams()->find("a");
  auto asked = gateway.begin(served->refresh());
  wait_until([&] { return a.received("tools/list").size() > before; });
  ASSERT_TRUE(gateway.set({}));
  ASSERT_EQ(asked.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(asked.get().error.value().kind(), ErrorKind::cancelled);
}

TEST(Refresh, HasStartedWhereAnUpstreamIsReplacedBeforeItAnswers) {
  ScriptedUpstream silent([](const auto&) { return Reaction::hang(); }, ScriptedUpstream::Discover::scripted);
  Upstream there({"one"});
  auto settings = upstream_at("a", silent.port());
  settings.timeout = settings.connect_timeout = 1h;
  TestGateway gateway({settings});
  auto started = gateway.begin(gateway.gateway.started());
  wait_until([&] { return !silent.received("server/discover").empty(); });
  ASSERT_TRUE(gateway.set({upstream_at("a", there.port)}));
  ASSERT_EQ(started.wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(started.get());
}

}  // namespace
}  // namespace proteus::gateway
