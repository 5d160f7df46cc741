#include <gmock/gmock.h>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"
#include "net/testing/closed_port.hpp"

namespace proteus::gateway {
namespace {

using test::one_tool;
using test::Reaction;
using test::ScriptedUpstream;
using test::small_lists;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::string_view kDone = R"({"resultType":"complete","content":[{"type":"text","text":"done"}]})";

Reaction lists_or_done(const boost::json::object& message) { return small_lists(message).value_or(std::string(kDone)); }

std::string page(std::string_view tool, std::string_view next) {
  std::string text = one_tool(tool);
  if (!next.empty()) text.insert(1, fmt::format(R"("nextCursor":"{}",)", next));
  return text;
}

std::string cursor_of(const boost::json::object& message) {
  const auto* cursor = message.at("params").as_object().if_contains("cursor");
  return cursor == nullptr ? std::string() : std::string(cursor->as_string());
}

// REF-04
TEST(Discovery, IsNotRepeatedForTheFirstCall) {
  ScriptedUpstream a(lists_or_done);
  TestGateway gateway({upstream_at("a", a.port())});
  gateway.discover();
  EXPECT_EQ(server::text_of(gateway.call("a_tool")), "done");
  EXPECT_EQ(a.received("server/discover").size(), 1U);
  EXPECT_EQ(a.received("tools/list").size(), 1U);
}

// PRX-02
TEST(Discovery, IsTheGatewaysOwnAndTheSameForEveryCaller) {
  ScriptedUpstream a(lists_or_done);
  auto settings = upstream_at("a", a.port());
  settings.event_driven_refresh = false;
  TestGateway gateway({settings},
                      {.principals = {{.name = "ada", .token = Secret("x")}, {.name = "bob", .token = Secret("y")}}});
  gateway.discover();
  const auto before = a.received("tools/list").size();
  for (const std::string_view token : {"x", "y"}) {
    const std::string fields = fmt::format("Authorization: Bearer {}\r\n", token);
    EXPECT_THAT(gateway.tools(fields, R"(,"user":"somebody")"), ElementsAre("a_tool"));
  }
  const auto lists = a.received("tools/list");
  EXPECT_EQ(lists.size(), before) << "nobody's list is a request upstream";
  for (const auto& list : lists)
    EXPECT_FALSE(list.at("params").at("_meta").as_object().contains("user"));
}

// REF-15
TEST(Discovery, ReadsAllPages) {
  ScriptedUpstream a([](const boost::json::object& message) -> Reaction {
    if (message.at("method") != "tools/list") return lists_or_done(message);
    const std::string cursor = cursor_of(message);
    return cursor.empty() ? page("one", "2") : cursor == "2" ? page("two", "3") : page("three", "");
  });
  TestGateway gateway({upstream_at("a", a.port())});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("a_one", "a_three", "a_two"));
}

// REF-15
TEST(Discovery, SeesThatACursorRepeatsItself) {
  ScriptedUpstream a([](const boost::json::object& message) -> Reaction {
    if (message.at("method") != "tools/list") return lists_or_done(message);
    return page("one", "again");
  });
  Upstream b({"two"});
  TestGateway gateway({upstream_at("a", a.port()), upstream_at("b", b.port)});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("b_two"));
  EXPECT_THAT(gateway.status("a").last_error, HasSubstr("cursor"));
  EXPECT_LE(a.received("tools/list").size(), 8U) << "it is not followed for ever";
}

// REF-20
TEST(Discovery, OfAForgottenSessionIsRepeatedInvisibly) {
  server::ServerOptions legacy;
  legacy.modern = false;
  const net::test::ClosedPort reserved;
  const std::uint16_t port = reserved.number();
  auto first = std::make_unique<Upstream>(std::vector<std::string>{"echo"}, legacy, port);
  TestGateway gateway({upstream_at("a", port)});
  gateway.discover();
  server::LegacyClient client(gateway.port());
  EXPECT_FALSE(client.call("1", "a_echo").json().at("result").as_object().contains("isError"));
  first = nullptr;
  // Another server in its place knows none of the sessions.
  std::atomic<int> runs = 0;
  server::Server again({.name = "again", .version = "1"}, legacy);
  again
      .add_tool({.name = "echo", .description = "Echoes"},
                [&runs](server::Context&) -> server::Outcome<server::ToolResult> {
                  ++runs;
                  return server::ToolResult::text("again");
                })
      .value();
  ASSERT_TRUE(again.listen({.port = port}));
  EXPECT_EQ(server::text_of(client.call("2", "a_echo").json()), "again");
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace proteus::gateway
