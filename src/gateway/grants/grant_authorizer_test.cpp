#include "gateway/grants/grant_authorizer.hpp"

#include <gmock/gmock.h>

#include "gateway/testing/vault_fixture.hpp"

namespace proteus::gateway::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class GrantAuthorizerTest : public VaultFixture {
 protected:
  GrantAuthorizer of(std::string owner) { return {*vault, wanted(std::move(owner)).owner, kTarget}; }
  GrantAuthorizer::Headers headers(GrantAuthorizer& authorizer) {
    return proteus::test::run(io, authorizer.headers("POST", url)).value();
  }
  Result<bool> refuse(GrantAuthorizer& authorizer, int status, std::string challenge, std::string nonce = {}) {
    const auto sent = headers(authorizer);
    return proteus::test::run(
        io, authorizer.refused({.status = status, .challenge = challenge, .dpop_nonce = nonce, .sent = sent}));
  }

  const net::Url url = net::Url::parse("https://files.example/mcp").value();
};

// UPC-15
TEST_F(GrantAuthorizerTest, SendsTheTokenOfItsOwnerAndOfNobodyElse) {
  put(grant_of("ada", "of-ada"));
  put(grant_of("bob", "of-bob"));
  GrantAuthorizer ada = of("ada");
  GrantAuthorizer bob = of("bob");
  GrantAuthorizer eve = of("eve");
  EXPECT_THAT(headers(ada), ElementsAre(Pair("Authorization", "Bearer of-ada")));
  EXPECT_THAT(bob.headers_now("POST", url)->headers(), ElementsAre(Pair("Authorization", "Bearer of-bob")));
  EXPECT_EQ(bob.headers_now("POST", url)->lines(), "Authorization: Bearer of-bob\r\n");
  EXPECT_FALSE(eve.headers_now("POST", url));
  EXPECT_EQ(proteus::test::run(io, eve.headers("POST", url)).error().kind(), ErrorKind::unauthenticated);
}

TEST_F(GrantAuthorizerTest, HasAnotherTokenAfterARefusal) {
  put(grant_of("ada"));
  GrantAuthorizer ada = of("ada");
  const auto sent = headers(ada);
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_TRUE(refuse(ada, 401, "Bearer error=\"invalid_token\"").value());
  EXPECT_THAT(headers(ada), ElementsAre(Pair("Authorization", "Bearer a2")));
  // Another request with the first token was under way.
  EXPECT_TRUE(proteus::test::run(io, ada.refused({.status = 401, .sent = sent})).value());
  EXPECT_THAT(servers->sent, SizeIs(1));
}

// UPC-10
TEST_F(GrantAuthorizerTest, SaysWhichScopesAreMissing) {
  put(grant_of("ada"));
  GrantAuthorizer ada = of("ada");
  EXPECT_FALSE(refuse(ada, 403, "Bearer error=\"insufficient_scope\", scope=\"write\"").value());
  EXPECT_THAT(ada.take_missing().scopes, ElementsAre("read", "write"));
  EXPECT_THAT(ada.take_missing().scopes, IsEmpty());
  EXPECT_FALSE(refuse(ada, 403, "").value());
  EXPECT_THAT(ada.take_missing().scopes, IsEmpty());
  EXPECT_THAT(servers->sent, IsEmpty());
  // Two calls at once lead to the same question.
  EXPECT_FALSE(refuse(ada, 403, "Bearer error=\"insufficient_scope\", scope=\"write\"").value());
  EXPECT_THAT(ada.take_missing().scopes, ElementsAre("read", "write"));
}

// UPC-10
TEST_F(GrantAuthorizerTest, SaysWhyNobodyIsAskedForTheScopesThatAreMissing) {
  put(grant_of("ada"));
  GrantAuthorizer ada = of("ada");
  const auto refused = refuse(ada, 403, "Bearer error=\"insufficient_scope\", scope=\"read\"");
  ASSERT_FALSE(refused);
  const auto missing = ada.take_missing();
  EXPECT_THAT(missing.scopes, IsEmpty());
  ASSERT_TRUE(missing.why);
  EXPECT_EQ(missing.why->kind(), ErrorKind::forbidden);
  EXPECT_THAT(missing.why->message(), HasSubstr("asks for scopes that were granted (read)"));
}

// What kept an earlier attempt from having a token says nothing about why a later one is refused.
TEST_F(GrantAuthorizerTest, ForgetsWhyItHadNoTokenOnceItHasOne) {
  GrantAuthorizer ada = of("ada");
  EXPECT_FALSE(proteus::test::run(io, ada.headers("POST", url)));
  put(grant_of("ada"));
  EXPECT_FALSE(refuse(ada, 403, "").value());
  EXPECT_FALSE(ada.take_missing().why);
  GrantAuthorizer bob = of("bob");
  EXPECT_FALSE(proteus::test::run(io, bob.headers("POST", url)));
  put(grant_of("bob"));
  EXPECT_TRUE(bob.headers_now("POST", url));
  EXPECT_FALSE(bob.take_missing().why);
}

// UPC-12
TEST_F(GrantAuthorizerTest, ProvesPossessionWithTheNonceThatTheUpstreamWants) {
  Grant bound = grant_of("ada");
  bound.tokens.type = auth::oauth::TokenType::dpop;
  bound.proof_key = auth::PrivateKey::make();
  put(std::move(bound));
  GrantAuthorizer ada = of("ada");
  const auto first = headers(ada);
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[0].second, "DPoP a1");
  EXPECT_EQ(first[1].first, "DPoP");
  EXPECT_TRUE(refuse(ada, 401, "DPoP error=\"use_dpop_nonce\"", "n1").value());
  EXPECT_THAT(servers->sent, IsEmpty());
  EXPECT_NE(headers(ada)[1].second, first[1].second);
  // Two requests without a nonce were under way: neither refusal is about the token.
  EXPECT_TRUE(refuse(ada, 401, "DPoP error=\"use_dpop_nonce\"", "n1").value());
  EXPECT_THAT(servers->sent, IsEmpty());
  EXPECT_TRUE(refuse(ada, 401, "DPoP error=\"invalid_dpop_proof\"", "n1b").value());
  EXPECT_THAT(servers->sent, IsEmpty()) << "the proof lacked the new nonce, and the token is as good as before";
  // A refusal of the token may bring a nonce, too.
  Refreshed next = renewed("a2", "r2");
  next.tokens.type = auth::oauth::TokenType::dpop;
  servers->answers.push_back(std::move(next));
  EXPECT_TRUE(refuse(ada, 401, "DPoP error=\"invalid_token\"", "n2").value());
  EXPECT_THAT(servers->sent, ElementsAre("r1"));
  stop();
  start();
  GrantAuthorizer again = of("ada");
  EXPECT_THAT(headers(again), SizeIs(2));
}

}  // namespace
}  // namespace proteus::gateway::test
