#include "auth/oauth/id_token.hpp"

#include <gtest/gtest.h>

#include "auth/testing/oauth_fixture.hpp"

namespace proteus::auth::oauth {
namespace {

using namespace proteus::auth::test;

// UPC-11: the ID token of the enterprise chain is that of the person who signed in
TEST(OAuthIdToken, IsOfThisSignIn) {
  const AuthorizationRequest request{.url = "",
                                     .state = "s",
                                     .verifier = Secret("v"),
                                     .nonce = "n",
                                     .issuer = kIssuer,
                                     .client_id = "c",
                                     .redirect_uri = "",
                                     .resource = ""};
  const Clock::Wall now{std::chrono::seconds(1000)};
  const auto is_good = [&](const boost::json::object& changed) {
    boost::json::object claims = {{"iss", kIssuer}, {"sub", "ada"}, {"aud", "c"},
                                  {"exp", 2000},    {"iat", 1000},  {"nonce", "n"}};
    for (const auto& member : changed)
      claims[member.key()] = member.value();
    static const PrivateKey key = PrivateKey::make();
    return judge_id_token(Secret(key.sign_token({}, claims)), request, now).has_value();
  };
  EXPECT_TRUE(is_good({}));
  EXPECT_TRUE(is_good({{"aud", boost::json::array{"other", "c"}}}));
  EXPECT_FALSE(is_good({{"iss", "https://evil.example"}}));
  EXPECT_FALSE(is_good({{"aud", "other"}}));
  EXPECT_FALSE(is_good({{"nonce", "other"}}));
  EXPECT_FALSE(is_good({{"nonce", nullptr}}));
  EXPECT_FALSE(is_good({{"exp", 900}}));
  EXPECT_FALSE(is_good({{"exp", nullptr}}));
  EXPECT_FALSE(judge_id_token(Secret("no.token"), request, now));
}

}  // namespace
}  // namespace proteus::auth::oauth
