#include <gmock/gmock.h>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using test::Reaction;
using test::ScriptedUpstream;
using test::small_lists;
using test::TestGateway;
using test::upstream_at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Reaction answer(const boost::json::object& message) {
  if (message.at("method") == "tools/list") {
    return std::string(R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"tool",
      "inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]})");
  }
  if (auto list = small_lists(message)) return *list;
  return std::string(R"({"resultType":"complete","content":[]})");
}

// PRO-17
TEST(UnknownHeaders, OfParametersReachTheUpstream) {
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

}  // namespace
}  // namespace proteus::gateway
