#include <gmock/gmock.h>

#include "base/log/log.hpp"
#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using test::Reaction;
using test::ScriptedUpstream;
using test::small_lists;
using test::TestGateway;
using test::upstream_at;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Reaction answer(const boost::json::object& message) {
  if (message.at("method") == "tools/list") {
    return std::string(R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"tool",
      "inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]})");
  }
  if (auto list = small_lists(message)) return *list;
  return std::string(R"({"resultType":"complete","content":[]})");
}

// PRO-17
TEST(Passing, HeadersForParametersItDoesNotKnowReachTheUpstream) {
  ScriptedUpstream upstream(answer);
  TestGateway gateway({upstream_at("up", upstream.port())});
  gateway.discover();
  const auto result = gateway.call("up_tool", R"({"region":"eu"})",
                                   "Mcp-Param-Region: eu\r\nMcp-Param-Tenant: seven\r\nX-Other: no\r\n");
  ASSERT_TRUE(result.as_object().contains("result"));
  EXPECT_THAT(upstream.headers("Mcp-Param-Region"), ElementsAre("eu")) << "made anew, and once";
  EXPECT_THAT(upstream.headers("Mcp-Param-Tenant"), ElementsAre("seven"));
  EXPECT_THAT(upstream.headers("X-Other"), IsEmpty());
  // The call wants progress, so it does not take the fast path.
  gateway.call("up_tool", "{}", "Mcp-Param-Tenant: eight\r\n", R"(,"progressToken":1)");
  EXPECT_THAT(upstream.headers("Mcp-Param-Tenant"), ElementsAre("seven", "eight"));
}

std::mutex& mutex() {
  static std::mutex instance;
  return instance;
}
std::vector<std::string>& lines() {
  static std::vector<std::string> kept;
  return kept;
}

// OPS-05
TEST(Passing, LinesOfARequestCarryItsIdAndNothingSecret) {
  ScriptedUpstream upstream([](const boost::json::object& message) -> Reaction {
    if (message.at("method") == "tools/call") return Reaction::drop();
    return answer(message);
  });
  TestGateway gateway({upstream_at("up", upstream.port())},
                      {.principals = {{.name = "ada", .token = Secret("the-token-of-ada")}}});
  gateway.discover();
  lines().clear();
  log::redirect([](std::string_view line) {
    const std::scoped_lock lock(mutex());
    lines().emplace_back(line);
  });
  log::configure({.level = log::Level::off, .modules = {{"gateway", log::Level::debug}}});
  gateway.call("up_tool", R"({"note":"argument-value"})", "Authorization: Bearer the-token-of-ada\r\n",
               R"(,"user":"meta-value")");
  gateway.ask("tools/list", {}, {}, "Authorization: Bearer the-token-of-ada\r\n");
  log::configure({});
  log::redirect(nullptr);

  const std::scoped_lock lock(mutex());
  ASSERT_EQ(lines().size(), 3U) << ::testing::PrintToString(lines());
  const auto id_of = [](const std::string& line) {
    const auto at = line.find("request=") + 8;
    return line.substr(at, line.find(' ', at) - at);
  };
  EXPECT_THAT(lines()[0], AllOf(HasSubstr("info gateway: a request did not get through"), HasSubstr("upstream=up")));
  EXPECT_THAT(lines()[1], AllOf(HasSubstr("debug gateway: answered"), HasSubstr("method=tools/call"),
                                HasSubstr("principal=ada"), HasSubstr("outcome=interrupted")));
  EXPECT_THAT(lines()[2], AllOf(HasSubstr("method=tools/list"), HasSubstr("outcome=ok")));
  EXPECT_EQ(id_of(lines()[0]), id_of(lines()[1]));
  EXPECT_NE(id_of(lines()[1]), id_of(lines()[2]));
  for (const char* secret : {"the-token-of-ada", "argument-value", "meta-value"})
    EXPECT_THAT(lines(), Not(Contains(HasSubstr(secret))));
}

}  // namespace
}  // namespace proteus::gateway
