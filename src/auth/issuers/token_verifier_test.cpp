#include "auth/issuers/token_verifier.hpp"

#include "auth/testing/issuers_fixture.hpp"
#include "auth/tokens/public_key.hpp"

namespace proteus::auth {
namespace {

using namespace std::chrono_literals;
using test::key_of;
using test::kResource;
using testing::ElementsAre;
using testing::HasSubstr;

class Verifier : public test::IssuersTest {
 protected:
  Verifier() {
    issuer_.publish({key_.jwk()});
    use();
  }
  std::string token_with(std::string_view name, const boost::json::value& value) {
    auto changed = claims();
    changed[name] = value;
    return key_.token(changed);
  }
  static std::string hash_of(std::string_view token) {
    const auto digest = json::sha256(token);
    return test::encode(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
  }

  const test::SigningKey& key_ = key_of(Algorithm::es256);
};

// OAU-01
TEST_F(Verifier, KnowsTheCallerBehindATokenOfEachAlgorithm) {
  std::vector<boost::json::object> keys;
  for (const Algorithm algorithm : kAlgorithms)
    keys.push_back(key_of(algorithm).jwk());
  issuer_.publish(keys);
  for (const Algorithm algorithm : kAlgorithms) {
    const auto verdict = verify(key_of(algorithm).token(claims()));
    ASSERT_TRUE(verdict) << verdict.error().reason;
    EXPECT_EQ((*verdict)->subject(), "mia");
    EXPECT_EQ((*verdict)->issuer(), issuer_.url());
    EXPECT_THAT((*verdict)->scopes, ElementsAre("tools"));
    EXPECT_EQ((*verdict)->expires, clock_.wall() + 5min + 30s);
  }
}

// OAU-05
TEST_F(Verifier, RefusesATokenForAnotherResource) {
  const auto verdict = verify(token_with("aud", boost::json::array{"https://gateway.example", "https://x.example"}));
  ASSERT_TRUE(verdict);
  const std::string whole = "https://gateway.example";
  EXPECT_EQ(use_refusal(**verdict, {.audiences = {&whole, 1}}), "");
  EXPECT_EQ(use_refusal(**verdict, {}), "the token is for another resource");
  const auto without = verify(token_with("aud", nullptr));
  ASSERT_TRUE(without);
  EXPECT_EQ(use_refusal(**without, {}), "the token is for another resource");
}

// OAU-05: audiences in the settings replace the URLs.
TEST_F(Verifier, TakesTheAudiencesOfTheSettings) {
  auto changed = settings();
  changed.audiences = {"api://gateway"};
  use({changed});
  const auto verdict = verify(token_with("aud", "api://gateway"));
  ASSERT_TRUE(verdict);
  EXPECT_TRUE((*verdict)->has_configured_audience);
  EXPECT_EQ(use_refusal(**verdict, {}), "");
  EXPECT_EQ(refusal(token_with("aud", boost::json::value(kResource))),
            "none of the token's audiences is configured for its issuer");
}

// Tokens of another tenant of the same provider, of another gateway's issuer, and without an issuer.
TEST_F(Verifier, RefusesTokensOfOtherIssuers) {
  for (const std::string& other :
       {issuer_.url() + "/", issuer_.url() + "/tenant", std::string("https://other.example"), std::string()}) {
    const auto verdict = verify(token_with("iss", boost::json::value(other)));
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().reason, "the token names no issuer that is configured");
    EXPECT_EQ(verdict.error().error_code(), "invalid_token");
  }
  EXPECT_EQ(issuer_.asked(test::FakeIssuer::kKeys), 0U);
}

// OAU-01: key confusion. A key of one issuer must not sign for another.
TEST_F(Verifier, ChecksATokenByTheKeysOfItsOwnIssuer) {
  test::FakeIssuer other;
  const test::SigningKey theirs(Algorithm::es256, "theirs");
  other.publish({theirs.jwk()});
  use({settings(), {.issuer = other.url()}});
  auto of_other = claims();
  of_other["iss"] = other.url();
  EXPECT_EQ(refusal(theirs.token(of_other)), "");
  EXPECT_EQ(refusal(theirs.token(claims())), "no known key of the issuer has signed the token");
  const test::SigningKey same_name(Algorithm::es256, "key");
  EXPECT_EQ(refusal(same_name.token(claims())), "the signature of the token is wrong");
}

// OAU-18
TEST_F(Verifier, RefusesTokensOutsideOfTheirTime) {
  EXPECT_EQ(refusal(token_with("exp", seconds(-31s))), "the token has expired");
  EXPECT_EQ(refusal(token_with("exp", seconds(-29s))), "");
  EXPECT_EQ(refusal(token_with("nbf", seconds(31s))), "the token is not valid yet");
  EXPECT_EQ(refusal(token_with("iat", seconds(31s))), "the token was issued in the future; do the clocks agree?");
  EXPECT_EQ(refusal(token_with("exp", nullptr)), "the token has no end");
  const auto verdict = verify(key_.token(claims()));
  ASSERT_TRUE(verdict);
  clock_.advance(5min + 30s);
  EXPECT_EQ(use_refusal(**verdict, {}), "the token has expired");
}

TEST_F(Verifier, RefusesAnIdTokenAndAnOversizedOne) {
  EXPECT_EQ(refusal(key_.token(claims(), {{"typ", "id+jwt"}})), "the token's type says that it is no access token");
  EXPECT_EQ(refusal(std::string(20'000, 'x')), "a token is over the limit of 16384");
  EXPECT_EQ(refusal(token_with("groups", boost::json::value(std::string(20'000, 'x')))),
            "a token is over the limit of 16384");
}

TEST_F(Verifier, RefusesOpaqueTokensWhereNobodyIsAskedAboutThem) {
  EXPECT_EQ(refusal("opaque"), "the token is opaque, and no issuer is configured for introspection");
}

// OAU-08
TEST_F(Verifier, AddsScopesThatOthersImply) {
  auto changed = settings();
  changed.implies = {{"admin", {"tools", "write"}}, {"write", {"read", "admin"}}};
  use({changed});
  const auto verdict = verify(token_with("scope", "admin"));
  ASSERT_TRUE(verdict);
  EXPECT_THAT((*verdict)->scopes, ElementsAre("admin", "tools", "write", "read"));
  EXPECT_THAT((*verdict)->claims.scopes(), ElementsAre("admin"));
}

// OAU-12
TEST_F(Verifier, NeverQuotesAToken) {
  for (const std::string& token : {std::string("s3cret"), std::string("s3cret.s3cret.s3cret"),
                                   token_with("iss", "https://s3cret.example"), token_with("exp", "s3cret")}) {
    const auto verdict = verify(token);
    ASSERT_FALSE(verdict);
    EXPECT_FALSE(verdict.error().reason.contains("s3cret")) << verdict.error().reason;
    EXPECT_FALSE(verdict.error().text.contains("s3cret"));
    EXPECT_FALSE(verdict.error().reason.contains(token));
  }
}

// SEC-01
TEST_F(Verifier, KnowsTokensThatNameItsIssuers) {
  EXPECT_TRUE(verifier_->names_issuer(key_.token(claims())));
  EXPECT_TRUE(verifier_->names_issuer(test::SigningKey(Algorithm::es256).token(claims()))) << "whoever signed it";
  EXPECT_TRUE(verifier_->names_issuer(key_.token(claims(), {{"alg", "RS512"}}))) << "though it is not accepted here";
  EXPECT_FALSE(verifier_->names_issuer(token_with("iss", "https://other.example")));
  EXPECT_FALSE(verifier_->names_issuer("opaque"));
}

TEST_F(Verifier, KeepsTheKeysOfIssuersThatDidNotChange) {
  EXPECT_EQ(refusal(key_.token(claims())), "");
  verifier_->set_issuers({settings(), {.issuer = "https://new.example"}});
  EXPECT_EQ(refusal(key_.token(claims())), "");
  EXPECT_EQ(issuer_.asked(test::FakeIssuer::kKeys), 1U);
  verifier_->set_issuers({});
  EXPECT_FALSE(verifier_->has_issuers());
  EXPECT_EQ(refusal(key_.token(claims())), "the token names no issuer that is configured");
}

// OAU-11
class Bound : public Verifier {
 protected:
  Bound() : thumbprint_(PublicKey::read(holder_.jwk()).value().thumbprint()) {}

  std::string bound_token() { return token_with("cnf", boost::json::object{{"jkt", thumbprint_}}); }
  std::string proof(const std::string& token, const std::string& id = "1") {
    return holder_.token(
        {{"jti", id}, {"htm", "POST"}, {"htu", kResource}, {"iat", seconds(0s)}, {"ath", hash_of(token)}},
        {{"typ", "dpop+jwt"}, {"jwk", holder_.jwk()}});
  }
  // Both arguments must outlive the result.
  static TokenUse use_of(std::string_view token, std::string_view proof) {
    return {.scheme = Scheme::dpop, .token = token, .proof = proof, .method = "POST", .url = kResource};
  }
  void set_dpop(Dpop dpop) {
    auto changed = settings();
    changed.dpop = dpop;
    use({changed});
  }

  const test::SigningKey& holder_ = key_of(Algorithm::eddsa, "");
  std::string thumbprint_;
};

TEST_F(Bound, IsAcceptedWithAProofOfItsKey) {
  const std::string token = bound_token();
  const auto verdict = verify(token);
  ASSERT_TRUE(verdict);
  EXPECT_EQ((*verdict)->thumbprint, thumbprint_);
  EXPECT_EQ(use_refusal(**verdict, use_of(token, proof(token))), "");
}

TEST_F(Bound, IsRefusedAsPlainBearerWhateverTheSettings) {
  for (const Dpop dpop : {Dpop::accept, Dpop::require, Dpop::off}) {
    set_dpop(dpop);
    const std::string token = bound_token();
    const auto verdict = verify(token);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(use_refusal(**verdict, {.token = token}), "the token is bound to a key and was sent as plain Bearer");
  }
  const auto verdict = verify(bound_token());
  const std::string token = bound_token();
  EXPECT_EQ(use_refusal(**verdict, use_of(token, proof(token))),
            "the token is bound to a key, and DPoP is off for its issuer");
}

TEST_F(Bound, IsRequiredWhereTheSettingsSaySo) {
  set_dpop(Dpop::require);
  EXPECT_EQ(refusal(key_.token(claims())), "the issuer's settings require tokens that are bound to a key");
  EXPECT_EQ(refusal(bound_token()), "");
}

TEST_F(Bound, IsRefusedWithoutAProofAndWithOneForAnother) {
  const std::string token = bound_token();
  const auto verdict = verify(token);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(use_refusal(**verdict, use_of(token, "")), "there is no proof, or more than one");
  EXPECT_EQ(use_refusal(**verdict, use_of(token, proof("another"))), "the proof is for another token");
  const std::string sound = proof(token);
  auto elsewhere = use_of(token, sound);
  elsewhere.url = "https://gateway.example/mcp/other";
  EXPECT_EQ(use_refusal(**verdict, elsewhere), "the proof is for another URL");
}

TEST_F(Bound, IsRefusedWithAReplayedProof) {
  const std::string token = bound_token();
  const auto verdict = verify(token);
  ASSERT_TRUE(verdict);
  const std::string first = proof(token);
  EXPECT_EQ(use_refusal(**verdict, use_of(token, first)), "");
  EXPECT_EQ(use_refusal(**verdict, use_of(token, first)), "the proof was used before");
  clock_.advance(60s);
  EXPECT_EQ(use_refusal(**verdict, use_of(token, first)), "the proof was used before");
  clock_.advance(1s);
  EXPECT_EQ(use_refusal(**verdict, use_of(token, first)), "the proof is too old");
  const std::string second = proof(token, "2");
  EXPECT_EQ(use_refusal(**verdict, use_of(token, second)), "");
}

TEST_F(Bound, SchemeIsRefusedForATokenThatIsNotBound) {
  const std::string token = key_.token(claims());
  const auto verdict = verify(token);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(use_refusal(**verdict, use_of(token, proof(token))),
            "the token was sent as DPoP and is not bound to a key");
}

}  // namespace
}  // namespace proteus::auth
