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
using ::testing::HasSubstr;
using ::testing::Not;

std::mutex& mutex() {
  static std::mutex instance;
  return instance;
}
std::vector<std::string>& lines() {
  static std::vector<std::string> kept;
  return kept;
}

// OPS-05
TEST(RequestLog, LinesCarryTheIdOfTheRequestAndNothingSecret) {
  ScriptedUpstream upstream([](const boost::json::object& message) -> Reaction {
    if (message.at("method") == "tools/call") return Reaction::drop();
    if (auto list = small_lists(message)) return *list;
    return std::string(R"({"resultType":"complete","content":[]})");
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
