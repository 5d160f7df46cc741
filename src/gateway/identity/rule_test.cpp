#include "gateway/identity/rule.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

auth::Claims claims(std::string_view json) { return *auth::Claims::read(boost::json::parse(json).as_object()); }

Rule rule(std::string_view json) {
  Rule read;
  json::Faults faults;
  rule_binding().read(boost::json::parse(json), read, json::Place(faults));
  EXPECT_THAT(faults.all(), IsEmpty());
  return read;
}

std::size_t faults_of(std::string_view json) {
  Rule read;
  json::Faults faults;
  rule_binding().read(boost::json::parse(json), read, json::Place(faults));
  return faults.all().size();
}

constexpr std::string_view kSomeone =
    R"({"iss":"https://id.example.com","sub":"u-17","groups":["dev","ops-eu"],"scope":"tools read",)"
    R"("realm_access":{"roles":["admin"]},"email":"someone@example.com"})";

// OAU-06
TEST(Rule, AllClaimsMustFitAndOneValueOfEachIsEnough) {
  const auto someone = claims(kSomeone);
  EXPECT_TRUE(fits(rule(R"({"match":{"groups":["sales","ops-*"],"scope":"tools"}})"), someone));
  EXPECT_FALSE(fits(rule(R"({"match":{"groups":["sales","ops-*"],"scope":"write"}})"), someone));
  EXPECT_TRUE(fits(rule(R"({"match":{"issuer":"https://id.example.com"}})"), someone));
  EXPECT_FALSE(fits(rule(R"({"match":{"issuer":"https://id.example.org"}})"), someone));
}

TEST(Rule, NestedClaimsAreFoundAndScpCountsAsScope) {
  EXPECT_TRUE(fits(rule(R"({"match":{"realm_access.roles":"admin"}})"), claims(kSomeone)));
  EXPECT_TRUE(fits(rule(R"({"match":{"scope":"tools"}})"), claims(R"({"sub":"x","scp":["tools"]})")));
}

TEST(Rule, TheFirstThatFitsDecides) {
  const std::vector<Rule> rules = {rule(R"({"match":{"groups":"sales"},"name":"a"})"),
                                   rule(R"({"match":{"groups":"dev"},"name":"b"})"), rule(R"({"name":"c"})")};
  ASSERT_NE(first_that_fits(rules, claims(kSomeone)), nullptr);
  EXPECT_EQ(first_that_fits(rules, claims(kSomeone))->name, "b");
  EXPECT_EQ(first_that_fits(std::span(rules).first(1), claims(kSomeone)), nullptr);
}

TEST(Rule, SaysWhyItDoesNotFit) {
  EXPECT_THAT(why_not(rule(R"({"match":{"department":"x"}})"), claims(kSomeone)),
              Optional(HasSubstr("department is missing")));
  EXPECT_THAT(why_not(rule(R"({"match":{"groups":"x"}})"), claims(kSomeone)), Optional(HasSubstr("groups fits")));
  EXPECT_EQ(why_not(rule(R"({})"), claims(kSomeone)), std::nullopt);
}

TEST(Rule, NamesAreMadeOfClaimsAndAreOneVisibleLine) {
  EXPECT_EQ(name_of(rule(R"json({"name":"{email} ({sub})"})json"), claims(kSomeone)), "someone@example.com (u-17)");
  EXPECT_EQ(name_of(rule(R"({"name":"{nothing}"})"), claims(kSomeone)), "u-17");
  const Rule by_nick = rule(R"({"name":"{nick}"})");
  EXPECT_EQ(name_of(by_nick, claims(R"({"sub":"x","nick":"a\nb"})")), "a\\x0ab");
  EXPECT_LE(name_of(by_nick, claims(R"({"sub":"x","nick":")" + std::string(5000, 'x') + R"("})")).size(), 200U);
}

TEST(Rule, FaultsAreFound) {
  EXPECT_EQ(faults_of(R"({"name":"{sub"})"), 1U);
  EXPECT_EQ(faults_of(R"({"name":"sub}"})"), 1U);
  EXPECT_EQ(faults_of(R"({"match":{"groups":[]}})"), 1U);
  EXPECT_EQ(faults_of(R"({"match":{"groups":7}})"), 1U);
  EXPECT_EQ(faults_of(R"({"admin":"root"})"), 1U);
  EXPECT_EQ(faults_of(R"({"colour":"red"})"), 1U);
}

TEST(Rule, TenThousandGroupsAreNoTrouble) {
  std::string groups;
  for (int i = 0; i < 10'000; ++i)
    groups += (i > 0 ? ",\"g" : "\"g") + std::to_string(i) + "\"";
  EXPECT_TRUE(
      fits(rule(R"({"match":{"groups":["nobody*","g9999"]}})"), claims(R"({"sub":"x","groups":[)" + groups + "]}")));
}

}  // namespace
}  // namespace proteus::gateway
