#include "auth/issuers/introspection.hpp"

#include "auth/testing/issuers_fixture.hpp"

namespace proteus::auth {
namespace {

using namespace std::chrono_literals;
using test::FakeIssuer;
using testing::HasSubstr;

// OAU-03
class Opaque : public test::IssuersTest {
 protected:
  Opaque() {
    auto changed = settings();
    changed.introspection = {"gate:way", Secret("pass word")};
    use({changed});
  }

  boost::json::object active() const {
    auto answer = claims();
    answer["active"] = true;
    return answer;
  }
  void answer(const boost::json::object& object) {
    issuer_.answer(FakeIssuer::kIntrospection, {.body = boost::json::serialize(object)});
  }
  std::size_t asked() const { return issuer_.asked(FakeIssuer::kIntrospection); }
};

TEST_F(Opaque, TokensAreIntrospectedWithTheCredentialsOfTheGateway) {
  answer(active());
  const auto verdict = verify("opaque+/=token");
  ASSERT_TRUE(verdict) << verdict.error().reason;
  EXPECT_EQ((*verdict)->subject(), "mia");
  EXPECT_EQ((*verdict)->usable_until, clock_.wall() + 60s);
  EXPECT_EQ((*verdict)->expires, clock_.wall() + 5min + 30s);
  EXPECT_EQ(use_refusal(**verdict, {}), "");
  EXPECT_EQ(issuer_.last(FakeIssuer::kIntrospection), "Basic " + base64_encode("gate%3Away:pass%20word") +
                                                          " token=opaque%2B%2F%3Dtoken&token_type_hint=access_token");
}

TEST_F(Opaque, TokensAreIntrospectedWithCredentialsInTheBodyWhereTheIssuerWantsThat) {
  auto metadata = issuer_.metadata();
  metadata["introspection_endpoint_auth_methods_supported"] = boost::json::array{"client_secret_post"};
  issuer_.answer(FakeIssuer::kMetadata, {.body = boost::json::serialize(metadata)});
  answer(active());
  EXPECT_TRUE(verify("opaque"));
  EXPECT_EQ(issuer_.last(FakeIssuer::kIntrospection),
            " token=opaque&token_type_hint=access_token&client_id=gate%3Away&client_secret=pass%20word");
}

TEST_F(Opaque, TokensAreRememberedForAMinuteAndNoLongerThanTheyLive) {
  answer(active());
  EXPECT_TRUE(verify("opaque"));
  clock_.advance(59s);
  EXPECT_TRUE(verify("opaque"));
  EXPECT_EQ(asked(), 1U);
  clock_.advance(1s);
  EXPECT_TRUE(verify("opaque"));
  EXPECT_EQ(asked(), 2U);
  auto ending = active();
  ending["exp"] = seconds(10s);
  answer(ending);
  const auto verdict = verify("another");
  ASSERT_TRUE(verdict);
  EXPECT_EQ((*verdict)->usable_until, clock_.wall() + 10s);
  clock_.advance(10s);
  answer({{"active", false}});
  EXPECT_FALSE(verify("another"));
  EXPECT_EQ(asked(), 4U);
}

TEST_F(Opaque, TokensThatAreNotActiveAreRememberedBriefly) {
  answer({{"active", false}});
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(verify("opaque").error().reason, "the issuer says that the token is not active");
  EXPECT_EQ(asked(), 1U);
  clock_.advance(5s);
  answer(active());
  EXPECT_TRUE(verify("opaque"));
  EXPECT_EQ(asked(), 2U);
}

TEST_F(Opaque, TokensOfStrangersAreNotAskedAboutAsOftenAsTheyLike) {
  answer({{"active", false}});
  const auto ask = [&](int number) { return verify("stranger-" + std::to_string(number)); };
  int number = 0;
  while (ask(++number).error().kind == Refusal::Kind::invalid_token)
    ASSERT_LE(number, 2 * static_cast<int>(Introspection::kInactivePerMinute));
  EXPECT_EQ(asked(), Introspection::kInactivePerMinute + 1);
  EXPECT_EQ(ask(++number).error().kind, Refusal::Kind::unavailable);
  clock_.advance(1s);
  answer(active());
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(ask(++number)) << "those that are good are not counted";
}

TEST_F(Opaque, TokensAreAskedAboutOnceByManyCallersAtOnce) {
  answer(active());
  std::vector<std::unique_ptr<test::Started<TokenVerifier::Verdict>>> callers;
  for (int i = 0; i < 30; ++i)
    callers.push_back(
        std::make_unique<test::Started<TokenVerifier::Verdict>>(io_, verifier_->verify(Secret("opaque"))));
  for (auto& caller : callers)
    EXPECT_TRUE(caller->finish());
  EXPECT_EQ(asked(), 1U);
}

TEST_F(Opaque, TokensBeyondABoundAreNotAskedAboutAtTheSameTime) {
  answer({{"active", false}});
  std::vector<std::unique_ptr<test::Started<TokenVerifier::Verdict>>> callers;
  for (int i = 0; i < 100; ++i)
    callers.push_back(std::make_unique<test::Started<TokenVerifier::Verdict>>(
        io_, verifier_->verify(Secret("opaque" + std::to_string(i)))));
  std::size_t unavailable = 0;
  for (auto& caller : callers)
    unavailable += caller->finish().error().kind == Refusal::Kind::unavailable ? 1U : 0U;
  EXPECT_EQ(unavailable, 100 - Introspection::kMaxAsked);
  EXPECT_EQ(asked(), Introspection::kMaxAsked);
}

TEST_F(Opaque, TokensAreNotRefusedForGoodWhereTheIssuerFails) {
  issuer_.answer(FakeIssuer::kIntrospection, {.status = 500});
  EXPECT_EQ(verify("opaque").error().kind, Refusal::Kind::unavailable);
  issuer_.answer(FakeIssuer::kIntrospection, {.status = 401});
  EXPECT_EQ(verify("opaque").error().kind, Refusal::Kind::unavailable) << "our credentials, not the caller's";
  issuer_.answer(FakeIssuer::kIntrospection, {.body = boost::json::serialize(active()), .megabytes = 100});
  EXPECT_EQ(verify("opaque").error().kind, Refusal::Kind::unavailable);
  issuer_.answer(FakeIssuer::kIntrospection, {.status = 307, .location = "http://169.254.169.254/"});
  EXPECT_EQ(verify("opaque").error().kind, Refusal::Kind::unavailable);
  for (const auto* const body : {"", "[]", "{}", R"({"active":"true"})", R"({"active":true,"active":false})"}) {
    issuer_.answer(FakeIssuer::kIntrospection, {.body = body});
    EXPECT_EQ(verify("opaque").error().kind, Refusal::Kind::unavailable) << body;
  }
  answer(active());
  EXPECT_TRUE(verify("opaque"));
}

TEST_F(Opaque, TokensOfAnotherIssuerResourceOrTimeAreRefused) {
  auto other = active();
  other["iss"] = "https://other.example";
  answer(other);
  EXPECT_EQ(refusal("a"), "the introspected token is of another issuer");
  other = active();
  other["exp"] = seconds(-60s);
  answer(other);
  EXPECT_EQ(refusal("b"), "the token has expired");
  other = active();
  other.erase("aud");
  answer(other);
  const auto verdict = verify("c");
  ASSERT_TRUE(verdict);
  EXPECT_EQ(use_refusal(**verdict, {}), "the token is for another resource");
  other = active();
  other.erase("sub");
  answer(other);
  EXPECT_EQ(refusal("d"), "the introspection names neither a subject nor a client");
}

TEST_F(Opaque, TokensMayHaveTenThousandGroupsAndNoEnd) {
  auto many = active();
  many.erase("exp");
  many.erase("iss");
  boost::json::array groups;
  for (int i = 0; i < 10'000; ++i)
    groups.push_back(boost::json::value("group-" + std::to_string(i)));
  many["groups"] = groups;
  answer(many);
  const auto verdict = verify("opaque");
  ASSERT_TRUE(verdict) << verdict.error().reason;
  EXPECT_EQ((*verdict)->claims.values("groups").size(), 10'000U);
  EXPECT_EQ((*verdict)->expires, clock_.wall() + 60s);
}

TEST_F(Opaque, TokensMayBeBoundToAKey) {
  auto bound = active();
  bound["cnf"] = {{"jkt", "print"}};
  answer(bound);
  const auto verdict = verify("opaque");
  ASSERT_TRUE(verdict);
  EXPECT_EQ(use_refusal(**verdict, {}), "the token is bound to a key and was sent as plain Bearer");
}

}  // namespace
}  // namespace proteus::auth
