#include "auth/tokens/claims.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/text.hpp"

namespace proteus::auth {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

Result<Claims> read(std::string_view text) { return Claims::read(json::parse(text).value().as_object()); }
Claims sound(std::string_view text) { return read(text).value(); }

constexpr Clock::Wall at(std::int64_t seconds) { return Clock::Wall(std::chrono::seconds(seconds)); }

TEST(Claims, AreReadFromATokenOfTheStandard) {
  const auto claims = sound(R"({"iss":"https://id.example","sub":"mia","aud":"https://gateway.example",
    "exp":2000,"nbf":1000,"iat":1000,"scope":"tools read","client_id":"app","jti":"1","cnf":{"jkt":"print"}})");
  EXPECT_EQ(claims.issuer(), "https://id.example");
  EXPECT_EQ(claims.subject(), "mia");
  EXPECT_THAT(claims.audiences(), ElementsAre("https://gateway.example"));
  EXPECT_EQ(claims.expires(), at(2000));
  EXPECT_EQ(claims.not_before(), at(1000));
  EXPECT_EQ(claims.issued_at(), at(1000));
  EXPECT_THAT(claims.scopes(), ElementsAre("tools", "read"));
  EXPECT_EQ(claims.client(), "app");
  EXPECT_EQ(claims.key_thumbprint(), "print");
}

// OAU-01
TEST(Claims, HaveAudiencesAsTextOrAsList) {
  const std::string accepted[] = {"a", "b"};
  EXPECT_TRUE(is_for(sound(R"({"aud":"a"})"), accepted));
  EXPECT_TRUE(is_for(sound(R"({"aud":["x","b"]})"), accepted));
  EXPECT_FALSE(is_for(sound(R"({"aud":"A"})"), accepted));
  EXPECT_FALSE(is_for(sound(R"({"aud":"a b"})"), accepted)) << "one text is one audience";
  EXPECT_FALSE(is_for(sound(R"({"aud":"a/"})"), accepted));
  EXPECT_FALSE(is_for(sound(R"({"aud":[]})"), accepted));
  EXPECT_FALSE(is_for(sound(R"({})"), accepted));
  EXPECT_FALSE(is_for(sound(R"({"aud":"a"})"), {}));
  for (const auto* const text : {R"({"aud":1})", R"({"aud":["a",1]})", R"({"aud":{"a":1}})", R"({"aud":[["a"]]})"})
    EXPECT_FALSE(read(text)) << text;
}

TEST(Claims, HaveTimesWithFractionsAndBeyondTheClock) {
  EXPECT_EQ(sound(R"({"exp":2000.5})").expires(), at(2000) + 500ms);
  EXPECT_EQ(sound(R"({"exp":2.0005e3})").expires(), at(2000) + 500ms);
  EXPECT_GT(sound(R"({"exp":9999999999999})").expires(), at(6'000'000'000));
  EXPECT_GT(sound(R"({"exp":1e300})").expires(), at(6'000'000'000));
  EXPECT_LT(sound(R"({"exp":-1e300})").expires(), at(-6'000'000'000));
  EXPECT_FALSE(sound(R"({"exp":null})").expires());
  for (const auto* const text : {R"({"exp":"2000"})", R"({"nbf":true})", R"({"iat":[1]})"})
    EXPECT_FALSE(read(text)) << text;
}

TEST(Claims, HaveScopesOfBothNames) {
  EXPECT_THAT(sound(R"({"scope":" a  b a "})").scopes(), ElementsAre("a", "b"));
  EXPECT_THAT(sound(R"({"scp":"a b"})").scopes(), ElementsAre("a", "b"));
  EXPECT_THAT(sound(R"({"scp":["a","b"],"scope":"b c"})").scopes(), ElementsAre("b", "c", "a"));
  EXPECT_THAT(sound(R"({})").scopes(), IsEmpty());
  EXPECT_FALSE(read(R"({"scope":1})"));
  EXPECT_FALSE(read(R"({"scp":[1]})"));
}

TEST(Claims, NameTheClientWhereThereIsNoSubject) {
  EXPECT_EQ(sound(R"({"azp":"app"})").subject(), "app");
  EXPECT_EQ(sound(R"({"azp":"app","client_id":"other"})").client(), "other");
  EXPECT_FALSE(read(R"({"sub":1})"));
  EXPECT_FALSE(read(R"({"sub":")" + std::string(2000, 's') + "\"}"));
}

TEST(Claims, BoundBySomethingElseThanAKeyAreRefused) {
  EXPECT_FALSE(read(R"({"cnf":{"x5t#S256":"print"}})"));
  EXPECT_FALSE(read(R"({"cnf":{"jkt":1}})"));
  EXPECT_FALSE(read(R"({"cnf":"print"})"));
}

// OAU-06
TEST(Claims, AreFoundByAPath) {
  const auto claims = sound(R"({"groups":["a",1,true,null,{"x":1},["y"]],"realm_access":{"roles":["r"]},"level":3,
    "https://app.example/roles":["n"],"a.b":{"c.d":{"e":"deep"}},"a":{"b":{"c":"shallow"}},"scp":["s"],"half":1.50})");
  EXPECT_THAT(claims.values("groups"), ElementsAre("a", "1", "true"));
  EXPECT_THAT(claims.values("realm_access.roles"), ElementsAre("r"));
  EXPECT_THAT(claims.values("level"), ElementsAre("3"));
  EXPECT_THAT(claims.values("half"), ElementsAre("1.5"));
  EXPECT_THAT(claims.values("https://app.example/roles"), ElementsAre("n"));
  EXPECT_THAT(claims.values("a.b.c.d.e"), ElementsAre("deep"));
  EXPECT_THAT(claims.values("scope"), ElementsAre("s"));
  for (const auto* const path : {"", ".", "..", "realm_access", "realm_access.", "realm_access.x", "level.x", "x", "."})
    EXPECT_THAT(claims.values(path), IsEmpty()) << path;
}

TEST(Claims, TakeTenThousandGroups) {
  boost::json::array groups;
  for (int i = 0; i < 10'000; ++i)
    groups.push_back(boost::json::value("group-" + std::to_string(i)));
  const auto claims = Claims::read({{"groups", groups}, {"scp", groups}});
  ASSERT_TRUE(claims);
  EXPECT_EQ(claims->values("groups").size(), 10'000U);
  EXPECT_EQ(claims->values("groups").back(), "group-9999");
  EXPECT_EQ(claims->scopes().size(), 10'000U);
}

class ClaimTimes : public testing::Test {
 protected:
  static std::string fault(std::string_view times, std::int64_t now) {
    const auto claims = sound(fmt::format(R"({{"iss":"i","sub":"s",{}}})", times));
    const auto checked = check_claims(claims, "i", at(now), 30s);
    return checked ? "" : checked.error().message();
  }
};

// OAU-01, OAU-18
TEST_F(ClaimTimes, AreCheckedWithLeeway) {
  EXPECT_EQ(fault(R"("exp":1000)", 999), "");
  EXPECT_EQ(fault(R"("exp":1000)", 1029), "");
  EXPECT_EQ(fault(R"("exp":1000)", 1030), "the token has expired");
  EXPECT_EQ(fault(R"("exp":999.5)", 1029), "");
  EXPECT_EQ(fault(R"("exp":998.5)", 1029), "the token has expired");
  EXPECT_EQ(fault(R"("exp":5000,"nbf":1030)", 1000), "");
  EXPECT_EQ(fault(R"("exp":5000,"nbf":1031)", 1000), "the token is not valid yet");
  EXPECT_EQ(fault(R"("exp":5000,"iat":1031)", 1000), "the token was issued in the future; do the clocks agree?");
  EXPECT_EQ(fault(R"("exp":1e300)", 1000), "");
  EXPECT_EQ(fault(R"("iat":1000)", 1000), "the token has no end");
}

// OAU-01: the issuer must match exactly.
TEST(Claims, AreOfTheVeryIssuer) {
  const auto claims = sound(R"({"iss":"https://id.example","sub":"s","exp":5000})");
  EXPECT_TRUE(check_claims(claims, "https://id.example", at(1000), 0s));
  for (const auto* const other : {"https://id.example/", "https://ID.example", "http://id.example", "", "https://id"})
    EXPECT_FALSE(check_claims(claims, other, at(1000), 0s)) << other;
  EXPECT_FALSE(check_claims(sound(R"({"iss":"i","exp":5000})"), "i", at(1000), 0s)) << "nobody";
}

}  // namespace
}  // namespace proteus::auth
