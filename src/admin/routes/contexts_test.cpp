#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"
#include "gateway/testing/scripted_upstream.hpp"

namespace proteus::admin {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;
using test::AdminFixture;
using test::entry;
using test::TestUpstream;
using test::wait_until;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A gateway with one cached upstream and one that is listed live, each with the tool `ping`.
class ContextRoutes : public ::testing::Test {
 protected:
  ContextRoutes()
      : bench_(store_,
               {.upstreams = {entry({{"name", "a"}, {"url", cached_.url()}}),
                              entry({{"name", "b"}, {"url", live_.url()}, {"refresh_strategy", "direct_proxy"}})},
                .defaults = {}}) {
    bench_.run(bench_.gateway.started()).value();
  }

  void enter(std::map<std::string, catalog::ContextManifest> contexts,
             std::vector<gateway::PrincipalSettings> principals = {}) {
    const auto anonymous = principals.empty() ? gateway::Anonymous::served : gateway::Anonymous::refused;
    bench_.gateway.set_access({std::make_shared<const gateway::Principals>(principals, anonymous),
                               catalog::Contexts::make({std::move(contexts), {{"s", {.guidance = "Guided."}}}})});
  }

  store::MemoryStore store_{{}};
  TestUpstream cached_;
  TestUpstream live_;
  AdminFixture bench_;
};

// Work that is handed to other threads must own what it uses.
TEST_F(ContextRoutes, CanBeCutOffWhileTheirWorkWaits) {
  std::promise<void> go;
  const auto may_go = go.get_future().share();
  std::vector<std::future<bool>> busy;
  for (int i = 0; i < 2; ++i) {
    busy.push_back(boost::asio::co_spawn(bench_.workers.at(0), bench_.gateway.background_threads().run([may_go] {
      may_go.wait();
      return true;
    }),
                                         boost::asio::use_future));
  }
  const int before = live_.requests;
  net::RawClient client(bench_.server.local_port());
  client.send(bench_.head("GET", "/admin/catalog/tools", fmt::format("X-Admin-Secret: {}\r\n", test::kSecret)));
  wait_until([&] { return live_.requests > before; });
  bench_.ask("GET", "/admin");
  bench_.server.stop();
  go.set_value();
  for (auto& one : busy)
    EXPECT_TRUE(one.get());
}

// CTX-09
TEST_F(ContextRoutes, ShowContextsWithWhatToLookAt) {
  enter({{"one", {.siblings = {"two", "gone"}, .tool_supplements = {{"ping", "P."}, {"pong", "Q."}}}},
         {"two", {.fault = "it is broken"}}});
  const value shown = bench_.ask("GET", "/admin/contexts").json();
  const auto& one = shown.at("contexts").at(0);
  EXPECT_EQ(one.at("endpoint"), "/mcp/one");
  EXPECT_EQ(one.at("siblings"), value(array{"two"}));
  ASSERT_EQ(one.at("warnings").as_array().size(), 1U);
  EXPECT_THAT(std::string(one.at("warnings").at(0).as_string()),
              ::testing::AllOf(HasSubstr("pong"), HasSubstr("listed live may have it: b")));
  EXPECT_EQ(shown.at("contexts").at(1).at("warnings"), value(array{"it is broken"}));
}

TEST_F(ContextRoutes, ExplainWhichPartOfADescriptionCameFromWhere) {
  enter({{"one", {.siblings = {"two"}, .schemas = {"s"}, .tool_supplements = {{"ping", "More."}}}}, {"two", {}}});
  const value shown = bench_.ask("GET", "/admin/contexts/one/tools?explain").json();
  ASSERT_EQ(shown.at("tools").as_array().size(), 2U) << "live ones, too";
  for (const auto& tool : shown.at("tools").as_array()) {
    std::string joined;
    std::vector<std::string> from;
    for (const auto& part : tool.at("parts").as_array()) {
      from.emplace_back(part.at("from").as_string());
      if (!joined.empty()) joined += "\n\n";
      joined += part.at("text").as_string();
    }
    EXPECT_THAT(from, ElementsAre("base", "schema", "supplement", "siblings"));
    EXPECT_EQ(tool.at("description"), value(joined));
    EXPECT_EQ(tool.at("own_name"), "ping");
  }
  EXPECT_EQ(shown.at("tools").at(1).at("name"), "b_ping");
  const value plain = bench_.ask("GET", "/admin/catalog/tools").json();
  EXPECT_EQ(plain.at("tools").as_array().size(), 2U);
  EXPECT_FALSE(plain.at("tools").at(0).as_object().contains("parts"));
  EXPECT_EQ(bench_.ask("GET", "/admin/contexts/none/tools").status, 404);
  EXPECT_EQ(bench_.send("GET", "/admin/contexts", {}, {}).status, 401);
}

TEST_F(ContextRoutes, LeaveOutWhatAContextExcludes) {
  enter({{"one", {.exclude = {"b_*"}}}});
  const value shown = bench_.ask("GET", "/admin/contexts/one/tools").json();
  ASSERT_EQ(shown.at("tools").as_array().size(), 1U);
  EXPECT_EQ(shown.at("tools").at(0).at("name"), "a_ping");
}

// The silent upstreams never answer, so one can be asked after the other only if nothing waits for the first.
TEST(ToolsOfLiveUpstreams, AreReadTogetherAndTheSilentAreNamed) {
  using gateway::test::Reaction;
  using gateway::test::ScriptedUpstream;
  const auto hang = [](const object&) { return Reaction::hang(); };
  ScriptedUpstream first(hang);
  ScriptedUpstream second(hang);
  TestUpstream talking;
  const auto live = [](std::string_view name, std::uint16_t port) {
    return entry({{"name", name},
                  {"url", fmt::format("http://127.0.0.1:{}/mcp", port)},
                  {"refresh_strategy", "direct_proxy"},
                  {"timeout", "10m"}});
  };
  store::MemoryStore store;
  AdminFixture fixture(store, {.upstreams = {live("first", first.port()), live("second", second.port()),
                                             live("talking", talking.port)}});
  net::RawClient client(fixture.server.local_port());
  client.send(fixture.head("GET", "/admin/catalog/tools", fmt::format("X-Admin-Secret: {}\r\n", test::kSecret)));
  for (auto* silent : {&first, &second})
    wait_until([&] { return !silent->received("tools/list").empty(); });
  const value shown = boost::json::parse(client.receive().body);
  ASSERT_EQ(shown.at("tools").as_array().size(), 1U);
  EXPECT_EQ(shown.at("tools").at(0).at("name"), "talking_ping");
  ASSERT_EQ(shown.at("missing").as_array().size(), 2U);
  EXPECT_EQ(shown.at("missing").at(0).at("upstream"), "first");
  EXPECT_EQ(shown.at("missing").at(1).at("upstream"), "second");
}

// CTX-17
TEST_F(ContextRoutes, AnswerPlainHttpWithTheToolsACallerSees) {
  enter({{"one", {.tool_supplements = {{"a_ping", "Text with \"quotes\"."}}}}, {"two", {}}},
        {{.name = "one", .token = Secret("t"), .contexts = {"one"}}});
  const auto get = [&](std::string_view context, std::string_view fields, std::string_view method = "GET") {
    return bench_.send(method, fmt::format("/v1/graphs/{}/mcp/tools", context), {}, fields);
  };
  constexpr std::string_view kToken = "Authorization: Bearer t\r\n";
  const auto answer = get("one", kToken);
  EXPECT_EQ(answer.status, 200);
  const auto tools = answer.json().at("tools").as_array();
  ASSERT_EQ(tools.size(), 2U);
  EXPECT_EQ(tools[0].as_object().size(), 3U);
  EXPECT_EQ(tools[0].at("name"), "a_ping");
  EXPECT_THAT(std::string(tools[0].at("description").as_string()), HasSubstr("Text with \"quotes\"."));
  EXPECT_EQ(tools[0].at("inputSchema").at("type"), "object");
  EXPECT_EQ(tools[1].at("name"), "b_ping");
  EXPECT_EQ(get("two", kToken).status, 404);
  EXPECT_EQ(get("none", kToken).status, 404);
  EXPECT_EQ(get("one", "").status, 401);
  EXPECT_EQ(get("one", kToken, "POST").status, 405);
  EXPECT_EQ(get("one", "Authorization: Bearer t\r\nOrigin: http://evil.example\r\n").status, 403);
}

}  // namespace
}  // namespace proteus::admin
