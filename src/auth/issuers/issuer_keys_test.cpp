#include "auth/issuers/issuer_keys.hpp"

#include "auth/testing/issuers_fixture.hpp"

namespace proteus::auth {
namespace {

using namespace std::chrono_literals;
using test::FakeIssuer;
using test::key_of;
using testing::HasSubstr;

// OAU-02, OAU-18
class Keys : public test::IssuersTest {
 protected:
  Keys() { use(); }

  std::string token(const std::string& id) { return key_of(Algorithm::es256, id).token(claims()); }
  boost::json::object jwk(const std::string& id) { return key_of(Algorithm::es256, id).jwk(); }
  std::size_t fetches() const { return issuer_.asked(FakeIssuer::kKeys); }
  Refusal refused(const std::string& token) { return verify(token).error(); }
};

TEST_F(Keys, AreFetchedOnceForManyCallersAtOnce) {
  issuer_.publish({jwk("a")});
  std::vector<std::unique_ptr<test::Started<TokenVerifier::Verdict>>> callers;
  for (int i = 0; i < 50; ++i)
    callers.push_back(
        std::make_unique<test::Started<TokenVerifier::Verdict>>(io_, verifier_->verify(Secret(token("a")))));
  for (auto& caller : callers)
    EXPECT_TRUE(caller->finish());
  EXPECT_EQ(fetches(), 1U);
  EXPECT_EQ(issuer_.asked(FakeIssuer::kMetadata), 1U);
}

TEST_F(Keys, AreFetchedAgainForAnUnknownOneAtMostEveryTenSeconds) {
  issuer_.publish({jwk("a")});
  EXPECT_TRUE(verify(token("a")));
  issuer_.publish({jwk("a"), jwk("b")});
  EXPECT_EQ(refused(token("b")).reason, "no known key of the issuer has signed the token");
  EXPECT_EQ(fetches(), 1U);
  clock_.advance(10s);
  EXPECT_TRUE(verify(token("b")));
  EXPECT_EQ(fetches(), 2U);
  for (int i = 0; i < 100; ++i)
    EXPECT_FALSE(verify(token("unknown")));
  EXPECT_EQ(fetches(), 2U) << "whatever strangers send";
  EXPECT_TRUE(verify(token("a")));
}

TEST_F(Keys, ThatRotateEachSecondCostABoundedNumberOfFetches) {
  std::size_t accepted = 0;
  for (int second = 0; second < 60; ++second) {
    const std::string id = "second-" + std::to_string(second);
    issuer_.publish({jwk(id)});
    accepted += verify(token(id)) ? 1U : 0U;
    clock_.advance(1s);
  }
  EXPECT_EQ(fetches(), 6U);
  EXPECT_EQ(accepted, 6U);
}

TEST_F(Keys, StayGoodWhileTheIssuerIsDown) {
  issuer_.publish({jwk("a")});
  EXPECT_TRUE(verify(token("a")));
  issuer_.answer(FakeIssuer::kKeys, {.status = 500});
  issuer_.answer(FakeIssuer::kMetadata, {.status = 500});
  clock_.advance(1h);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(verify(token("a")));
    EXPECT_FALSE(verify(token("b")));
    clock_.advance(20s);
  }
  EXPECT_THAT(verifier_->status()[0].keys.fault, HasSubstr("answered 500"));
  EXPECT_EQ(verifier_->status()[0].keys.keys, 1U);
  issuer_.publish({jwk("b")});
  issuer_.answer(FakeIssuer::kMetadata, {.body = boost::json::serialize(issuer_.metadata())});
  EXPECT_TRUE(verify(token("b")));
  EXPECT_FALSE(verify(token("a"))) << "it was taken back";
  EXPECT_EQ(verifier_->status()[0].keys.fault, "");
}

TEST_F(Keys, ThatWereTakenBackStopAfterAWhileWithoutAnUnknownOne) {
  issuer_.publish({jwk("a")});
  EXPECT_TRUE(verify(token("a")));
  issuer_.publish({jwk("b")});
  clock_.advance(IssuerKeys::kFresh);
  EXPECT_TRUE(verify(token("a"))) << "fetched aside: nobody waits for it";
  test::run_until(io_, [&] { return verifier_->status()[0].keys.fetches == 2; });
  EXPECT_FALSE(verify(token("a")));
}

TEST_F(Keys, OfAnIssuerThatIsDownAtStartAreFetchedWhenItIsBack) {
  issuer_.answer(FakeIssuer::kMetadata, {.status = 503});
  verifier_->fetch_ahead();
  test::run_until(io_, [&] { return verifier_->status()[0].keys.fetches == 1; });
  const auto refusal = refused(token("a"));
  EXPECT_EQ(refusal.kind, Refusal::Kind::unavailable);
  EXPECT_EQ(refusal.retry_after, 10s);
  issuer_.answer(FakeIssuer::kMetadata, {.body = boost::json::serialize(issuer_.metadata())});
  issuer_.publish({jwk("a")});
  EXPECT_EQ(refused(token("a")).kind, Refusal::Kind::unavailable) << "not so soon";
  clock_.advance(10s);
  EXPECT_TRUE(verify(token("a")));
}

TEST_F(Keys, AreFoundByOpenIdDiscoveryToo) {
  issuer_.answer(FakeIssuer::kMetadata, {.status = 404});
  issuer_.answer("/.well-known/openid-configuration", {.body = boost::json::serialize(issuer_.metadata())});
  issuer_.publish({jwk("a")});
  EXPECT_TRUE(verify(token("a")));
}

TEST_F(Keys, AreFetchedFromWhereTheSettingsSay) {
  auto changed = settings();
  changed.jwks_url = issuer_.url() + "/elsewhere";
  use({changed});
  issuer_.answer("/elsewhere", {.body = test::key_set({jwk("a")})});
  EXPECT_TRUE(verify(token("a")));
  EXPECT_EQ(issuer_.asked(FakeIssuer::kMetadata), 0U);
}

TEST_F(Keys, OfAnotherIssuersMetadataAreNotUsed) {
  auto metadata = issuer_.metadata();
  metadata["issuer"] = "https://other.example";
  issuer_.answer(FakeIssuer::kMetadata, {.body = boost::json::serialize(metadata)});
  issuer_.publish({jwk("a")});
  EXPECT_EQ(refused(token("a")).kind, Refusal::Kind::unavailable);
  EXPECT_EQ(fetches(), 0U);
}

TEST_F(Keys, AreNotReadFromAnAnswerOfAHundredMegabytes) {
  issuer_.answer(FakeIssuer::kKeys, {.body = test::key_set({jwk("a")}), .megabytes = 100});
  EXPECT_THAT(refused(token("a")).reason, HasSubstr("limit"));
  issuer_.answer(FakeIssuer::kMetadata, {.body = boost::json::serialize(issuer_.metadata()), .megabytes = 100});
  clock_.advance(2h);
  EXPECT_EQ(refused(token("a")).kind, Refusal::Kind::unavailable);
}

TEST_F(Keys, AreNotReadFromGarbage) {
  for (const auto* const body : {"", "garbage", "[]", R"({"keys":1})"}) {
    issuer_.answer(FakeIssuer::kKeys, {.body = body});
    EXPECT_EQ(refused(token("a")).kind, Refusal::Kind::unavailable) << body;
    clock_.advance(10s);
  }
}

TEST_F(Keys, AreNotFollowedToWhereAnIssuerRedirects) {
  issuer_.answer(FakeIssuer::kKeys, {.status = 302, .location = "http://169.254.169.254/latest/meta-data"});
  EXPECT_THAT(refused(token("a")).reason, HasSubstr("redirects to another place, which is not followed"));
  issuer_.answer("/moved", {.body = test::key_set({jwk("a")})});
  issuer_.answer(FakeIssuer::kKeys, {.status = 307, .location = "/moved"});
  clock_.advance(10s);
  EXPECT_FALSE(verify(token("a")));
  EXPECT_EQ(issuer_.asked("/moved"), 0U);
}

// An issuer must not be able to send us to a cloud's metadata service, or to a neighbour.
TEST_F(Keys, AreNotFetchedFromWhereEgressRulesForbid) {
  for (const auto* const place : {"http://169.254.169.254/keys", "http://10.0.0.1/keys", "http://[fe80::1]/keys"}) {
    auto metadata = issuer_.metadata();
    metadata["jwks_uri"] = place;
    issuer_.answer(FakeIssuer::kMetadata, {.body = boost::json::serialize(metadata)});
    EXPECT_THAT(refused(token("a")).reason, HasSubstr("[egress]")) << place;
    clock_.advance(2h);
  }
}

TEST_F(Keys, OfAnIssuerThatDoesNotAnswerAreGivenUp) {
  issuer_.answer(FakeIssuer::kKeys, {.is_held = true});
  test::Started<TokenVerifier::Verdict> waiting(io_, verifier_->verify(Secret(token("a"))));
  test::run_until(io_, [&] { return fetches() == 1; });
  EXPECT_FALSE(waiting.is_done());
  clock_.advance(15s);
  http_->sweep();
  EXPECT_EQ(waiting.finish().error().kind, Refusal::Kind::unavailable);
}

// OAU-18: callers of other issuers are not affected.
TEST_F(Keys, OfOneIssuerDoNotWaitForAnother) {
  FakeIssuer other;
  other.answer(FakeIssuer::kKeys, {.is_held = true});
  use({settings(), {.issuer = other.url()}});
  issuer_.publish({jwk("a")});
  auto of_other = claims();
  of_other["iss"] = other.url();
  test::Started<TokenVerifier::Verdict> slow(io_,
                                             verifier_->verify(Secret(key_of(Algorithm::es256, "a").token(of_other))));
  test::run_until(io_, [&] { return other.asked(FakeIssuer::kKeys) == 1; });
  EXPECT_TRUE(verify(token("a")));
  EXPECT_FALSE(slow.is_done());
  test::run(io_, verifier_->close());
  EXPECT_FALSE(slow.finish());
}

TEST_F(Keys, ThatAreWaitedForAreGivenUpWhenTheVerifierCloses) {
  issuer_.answer(FakeIssuer::kKeys, {.is_held = true});
  test::Started<TokenVerifier::Verdict> waiting(io_, verifier_->verify(Secret(token("a"))));
  test::run_until(io_, [&] { return fetches() == 1; });
  test::run(io_, verifier_->close());
  EXPECT_FALSE(waiting.finish());
  EXPECT_EQ(refused(token("a")).kind, Refusal::Kind::unavailable);
}

TEST_F(Keys, AreNotAffectedByACallerThatGoesAway) {
  issuer_.publish({jwk("a")});
  test::Started<TokenVerifier::Verdict> gone(io_, verifier_->verify(Secret(token("a"))));
  test::Started<TokenVerifier::Verdict> stays(io_, verifier_->verify(Secret(token("a"))));
  test::settle(io_);
  gone.cancel();
  EXPECT_TRUE(stays.finish());
  test::run_until(io_, [&] { return gone.is_done(); });
  EXPECT_EQ(fetches(), 1U);
}

}  // namespace
}  // namespace proteus::auth
