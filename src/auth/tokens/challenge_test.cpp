#include "auth/tokens/challenge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::auth {
namespace {

const std::vector<std::string> kScopes = {"tools", "offline_access", "admin"};

// OAU-04, OAU-08, OAU-16
TEST(Challenge, BeginsWithBearerAndHasAFixedOrder) {
  EXPECT_EQ(write_challenge({}), "Bearer");
  EXPECT_EQ(write_challenge({.resource_metadata = "https://g.example/.well-known/oauth-protected-resource"}),
            R"(Bearer resource_metadata="https://g.example/.well-known/oauth-protected-resource")");
  EXPECT_EQ(write_challenge({.error = "insufficient_scope",
                             .description = "It needs \"more\"\r\nX: y",
                             .scopes = kScopes,
                             .resource_metadata = "https://g.example/m"}),
            R"(Bearer error="insufficient_scope", error_description="It needs moreX: y", scope="tools admin", )"
            R"(resource_metadata="https://g.example/m")");
  const Algorithm algorithms[] = {Algorithm::es256, Algorithm::eddsa};
  EXPECT_EQ(write_challenge({.error = "invalid_token", .dpop_algorithms = algorithms}),
            R"(Bearer error="invalid_token", DPoP error="invalid_token", algs="ES256 EdDSA")");
  EXPECT_EQ(write_challenge({.dpop_algorithms = algorithms}), R"(Bearer, DPoP algs="ES256 EdDSA")");
}

TEST(Challenge, ReadsBackWhatWasWritten) {
  const Algorithm algorithms[] = {Algorithm::es256};
  const auto read = read_challenges(write_challenge(
      {.error = "invalid_token", .scopes = kScopes, .resource_metadata = "u", .dpop_algorithms = algorithms}));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_TRUE(read[0].is("bearer"));
  EXPECT_EQ(read[0].find("error"), "invalid_token");
  EXPECT_EQ(read[0].find("scope"), "tools admin");
  EXPECT_EQ(read[0].find("resource_metadata"), "u");
  EXPECT_EQ(read[0].find("algs"), "");
  EXPECT_TRUE(read[1].is("DPoP"));
  EXPECT_EQ(read[1].find("algs"), "ES256");
}

TEST(Challenge, IsReadInTheFormsThatServersUse) {
  const auto schemes = [](std::string_view field) {
    std::vector<std::string> names;
    for (const auto& challenge : read_challenges(field))
      names.push_back(challenge.scheme);
    return names;
  };
  using testing::ElementsAre;
  EXPECT_THAT(schemes(""), testing::IsEmpty());
  EXPECT_THAT(schemes("Basic"), ElementsAre("Basic"));
  EXPECT_THAT(schemes("Basic, Bearer"), ElementsAre("Basic", "Bearer"));
  EXPECT_THAT(schemes("Negotiate YWJj/+=, , Bearer realm=x"), ElementsAre("Negotiate", "Bearer"));
  EXPECT_THAT(schemes(R"(Basic realm="a, Bearer b=\"c\"", bearer scope="x")"), ElementsAre("Basic", "bearer"));
  EXPECT_THAT(schemes("Bearer realm = \"a\" , x=y , Basic realm=z"), ElementsAre("Bearer", "Basic"));
  EXPECT_EQ(read_challenges(R"(Bearer Scope="a", scope="b", realm="q\"q")")[0].find("scope"), "a");
  EXPECT_EQ(read_challenges(R"(Bearer scope="a", realm="q\"q")")[0].find("realm"), "q\"q");
  EXPECT_EQ(read_challenges("Bearer error=invalid_token")[0].find("error"), "invalid_token");
}

TEST(Challenge, IsBounded) {
  EXPECT_EQ(read_challenges("Bearer x=\"" + std::string(kMaxChallengeBytes, 'x') + "\"").size(), 0U);
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += "Basic, ";
  EXPECT_EQ(read_challenges(many).size(), 32U);
  EXPECT_EQ(read_challenges("Bearer x=\"unfinished").size(), 1U);
  EXPECT_EQ(read_challenges("\"Bearer\"").size(), 0U);
}

}  // namespace
}  // namespace proteus::auth
