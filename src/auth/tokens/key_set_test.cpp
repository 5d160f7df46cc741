#include "auth/tokens/key_set.hpp"

#include <gtest/gtest.h>

#include "auth/testing/signing_key.hpp"

namespace proteus::auth {
namespace {

using test::key_of;

boost::json::object with(boost::json::object jwk, std::string_view name, const boost::json::value& value) {
  jwk[name] = value;
  return jwk;
}

TEST(KeySet, KeepsKeysThatCheckSignaturesAndLeavesOthersOut) {
  const auto jwk = key_of(Algorithm::es256).jwk();
  const auto keeps = [&](std::string_view name, const boost::json::value& value) {
    const auto set = KeySet::parse(test::key_set({with(jwk, name, value)}));
    return set && set->keys().size() == 1 && set->left_out() == 0;
  };
  EXPECT_TRUE(keeps("use", "sig"));
  EXPECT_FALSE(keeps("use", "enc"));
  EXPECT_FALSE(keeps("use", 1));
  EXPECT_TRUE(keeps("key_ops", boost::json::array{"verify"}));
  EXPECT_FALSE(keeps("key_ops", boost::json::array{"encrypt"}));
  EXPECT_FALSE(keeps("key_ops", "verify"));
  EXPECT_TRUE(keeps("alg", "ES256"));
  EXPECT_FALSE(keeps("alg", "RS256"));
  EXPECT_FALSE(keeps("alg", "HS256"));
  EXPECT_FALSE(keeps("kid", 7));
  EXPECT_FALSE(keeps("d", "AQAB"));
  EXPECT_TRUE(keeps("x5u", "file:///etc/passwd")) << "which nobody reads";
}

TEST(KeySet, FindsKeysByTheirNameAndAlgorithm) {
  const auto set = KeySet::parse(
      test::key_set({key_of(Algorithm::rs256, "r").jwk(), with(key_of(Algorithm::rs256, "p").jwk(), "alg", "PS256"),
                     key_of(Algorithm::es256, "e").jwk(), with(key_of(Algorithm::eddsa, "").jwk(), "kid", "")}));
  ASSERT_TRUE(set);
  EXPECT_EQ(set->find("r", Algorithm::rs256).size(), 1U);
  EXPECT_EQ(set->find("r", Algorithm::ps256).size(), 1U);
  EXPECT_EQ(set->find("p", Algorithm::rs256).size(), 0U) << "it is for another algorithm";
  EXPECT_EQ(set->find("p", Algorithm::ps256).size(), 1U);
  EXPECT_EQ(set->find("e", Algorithm::rs256).size(), 0U) << "it is of another kind";
  EXPECT_EQ(set->find("x", Algorithm::rs256).size(), 0U);
  EXPECT_EQ(set->find("", Algorithm::ps256).size(), 2U);
  EXPECT_EQ(set->find("", Algorithm::eddsa).size(), 1U);
}

TEST(KeySet, CountsARepeatedKeyOnce) {
  const auto jwk = key_of(Algorithm::es256).jwk();
  const auto set = KeySet::parse(test::key_set({jwk, jwk, with(jwk, "kid", "other")}));
  ASSERT_TRUE(set);
  EXPECT_EQ(set->keys().size(), 2U);
}

TEST(KeySet, RefusesWhatIsNoSetOrTooLarge) {
  for (const auto* const text : {"", "[]", "{}", R"({"keys":{}})", R"({"keys":[],"keys":[]})", "null", "{\"keys\":["})
    EXPECT_FALSE(KeySet::parse(text)) << text;
  EXPECT_FALSE(KeySet::parse(R"({"keys":[{"kty":"RSA","kty":"EC"}]})"));
  EXPECT_FALSE(KeySet::parse(R"({"keys":)" + std::string(100, '[') + std::string(100, ']') + "}"));
  EXPECT_FALSE(KeySet::parse(R"({"keys":[]})" + std::string(KeySet::kMaxBytes, ' ')));
  std::vector<boost::json::object> many(KeySet::kMaxKeys, boost::json::object{{"kty", "oct"}});
  EXPECT_TRUE(KeySet::parse(test::key_set(many)));
  many.emplace_back();
  EXPECT_FALSE(KeySet::parse(test::key_set(many)));
}

TEST(KeySet, TriesABoundedNumberOfKeys) {
  std::vector<boost::json::object> many;
  for (int i = 0; i < 20; ++i)
    many.push_back(with(test::SigningKey(Algorithm::eddsa).jwk(), "kid", "same"));
  const auto set = KeySet::parse(test::key_set(many));
  ASSERT_TRUE(set);
  EXPECT_EQ(set->keys().size(), 20U);
  EXPECT_EQ(set->find("same", Algorithm::eddsa).size(), KeySet::kMaxTries);
}

}  // namespace
}  // namespace proteus::auth
