#include "gateway/bridge/questions.hpp"

#include <gmock/gmock.h>

namespace proteus::gateway {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> keys_of(const mcp::InputRequired& required) {
  std::vector<std::string> keys;
  for (const auto& request : required.requests)
    keys.push_back(request.key);
  return keys;
}

// BRG-03: a client answers by key, so each question needs its own.
TEST(Questions, OfUrlsHaveDifferentKeysWhateverTheServerSays) {
  const auto asked =
      url_questions(R"({"elicitations":[{"elicitationId":"a","url":"https://x.example/1","message":"one"},)"
                    R"({"elicitationId":"a","url":"https://x.example/2","message":"two"},)"
                    R"({"elicitationId":"url-2","url":"https://x.example/3","message":"three"},)"
                    R"({"url":"https://x.example/4","message":"four"}]})");
  ASSERT_TRUE(asked);
  EXPECT_THAT(keys_of(*asked), ElementsAre("a", "url-1", "url-2", "url-3"));
}

TEST(Questions, AreForwardedWithoutWhatOnlyTheLegacyEraHas) {
  const auto some = to_modern({mcp::Method::elicit, R"({"_meta":{"x":1},"message":"?","task":{},"more":1.50})"});
  EXPECT_EQ(some.params, R"({"message":"?","more":1.50})");
  EXPECT_EQ(to_modern({mcp::Method::elicit, R"({ "_meta":{} })"}).params, "");
}

}  // namespace
}  // namespace proteus::gateway
