// How the vault keeps tokens fresh.
#include <gmock/gmock.h>

#include "gateway/testing/vault_fixture.hpp"

namespace proteus::gateway::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Outcome = Refreshed::Outcome;

using VaultRefreshTest = VaultFixture;

// UPC-08: a thousand calls with an expired token cause one refresh.
TEST_F(VaultRefreshTest, RefreshesOnceForAllWhoAskAtTheSameTime) {
  put(grant_of("ada"));
  clock.advance(2h);
  servers->held = true;
  servers->answers.push_back(renewed("a2", "r2"));
  std::vector<std::unique_ptr<proteus::test::Started<Result<GrantPointer>>>> asking;
  for (int i = 0; i < 1000; ++i)
    asking.push_back(std::make_unique<proteus::test::Started<Result<GrantPointer>>>(io, vault->usable(wanted("ada"))));
  proteus::test::run_until(io, [&] { return !servers->sent.empty(); });
  servers->release();
  for (const auto& each : asking) {
    const auto grant = each->finish();
    ASSERT_TRUE(grant);
    EXPECT_EQ((*grant)->authorization(), "Bearer a2");
  }
  EXPECT_THAT(servers->sent, ElementsAre("r1"));
}

// UPC-08
TEST_F(VaultRefreshTest, RefreshesBeforeATokenEndsAndUsesItMeanwhile) {
  put(grant_of("ada"));
  clock.advance(1h - 30s);
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_EQ(used("ada"), "Bearer a1");
  proteus::test::run_until(io, [&] { return used("ada") == "Bearer a2"; });
  EXPECT_THAT(servers->sent, ElementsAre("r1"));
  stop();
  start();
  EXPECT_EQ(used("ada"), "Bearer a2");
}

// UPC-08
TEST_F(VaultRefreshTest, RefreshesOnceWhereTheNewTokenDoesNotExpire) {
  put(grant_of("ada"));
  clock.advance(2h);
  servers->answers.push_back(renewed("a2", "r2"));
  servers->answers.back().tokens.expires.reset();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(used("ada"), "Bearer a2");
  EXPECT_THAT(servers->sent, ElementsAre("r1"));
}

// UPC-08: a process dies after a rotation has begun and before its answer is written.
TEST_F(VaultRefreshTest, NeedsASignInWhereItCannotTellWhetherARefreshTokenWasUsed) {
  put(grant_of("ada"));
  put(grant_of("bob"));
  clock.advance(2h);
  servers->held = true;
  proteus::test::Started<Result<GrantPointer>> asking(io, vault->usable(wanted("ada")));
  proteus::test::run_until(io, [&] { return !servers->sent.empty(); });
  ScriptedServers none(io);
  Vault other({io, store, clock, none});
  ASSERT_TRUE(proteus::test::run(io, other.load()));
  const auto grant = other.find(wanted("ada").owner, kTarget);
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->state, GrantState::needs_sign_in);
  EXPECT_THAT(grant->trouble, HasSubstr("may have been used"));
  EXPECT_EQ(other.state(wanted("bob").owner, kTarget), GrantState::connected);
  servers->answers.push_back(renewed("a2", "r2"));
  servers->release();
  EXPECT_TRUE(asking.finish());
  ASSERT_TRUE(proteus::test::run(io, other.load()));
  EXPECT_EQ(other.state(wanted("ada").owner, kTarget), GrantState::connected);
}

// UPC-08: a server that does not rotate refresh tokens accepts the same one again.
TEST_F(VaultRefreshTest, LosesNothingWhereRefreshTokensDoNotRotate) {
  put(grant_of("ada"));
  clock.advance(2h);
  servers->answers.push_back(renewed("a2", ""));
  EXPECT_EQ(used("ada"), "Bearer a2");
  clock.advance(2h);
  servers->held = true;
  proteus::test::Started<Result<GrantPointer>> asking(io, vault->usable(wanted("ada")));
  proteus::test::run_until(io, [&] { return servers->sent.size() == 2; });
  EXPECT_THAT(servers->sent, ElementsAre("r1", "r1"));
  ScriptedServers none(io);
  Vault other({io, store, clock, none});
  ASSERT_TRUE(proteus::test::run(io, other.load()));
  EXPECT_EQ(other.state(wanted("ada").owner, kTarget), GrantState::connected);
  servers->answers.push_back({.outcome = Outcome::unknown, .why = "it timed out"});
  servers->release();
  EXPECT_FALSE(asking.finish());
  EXPECT_EQ(state("ada"), GrantState::connected);
}

// UPC-09
TEST_F(VaultRefreshTest, DisconnectsTheOneUserWhoseRefreshIsRefused) {
  put(grant_of("ada"));
  put(grant_of("bob"));
  changes.clear();
  clock.advance(2h);
  servers->answers.push_back({.outcome = Outcome::refused, .why = "invalid_grant"});
  servers->answers.push_back(renewed("b2", "s2"));
  EXPECT_EQ(used("ada"), "unauthenticated");
  EXPECT_EQ(used("bob"), "Bearer b2");
  EXPECT_EQ(state("ada"), GrantState::needs_sign_in);
  EXPECT_THAT(changes, ElementsAre("ada needs sign-in"));
  EXPECT_EQ(used("ada"), "unauthenticated");
  EXPECT_THAT(servers->sent, SizeIs(2));
  put(grant_of("ada", "a3", "r3"));
  EXPECT_EQ(used("ada"), "Bearer a3");
  EXPECT_THAT(vault->all(), SizeIs(2));
}

// A lost answer to a refresh must not go unnoticed.
TEST_F(VaultRefreshTest, NeedsASignInAfterARefreshWithoutAnAnswer) {
  put(grant_of("ada"));
  clock.advance(2h);
  servers->answers.push_back({.outcome = Outcome::unknown, .why = "it timed out"});
  EXPECT_EQ(used("ada"), "unauthenticated");
  stop();
  start();
  EXPECT_EQ(state("ada"), GrantState::needs_sign_in);
  EXPECT_THAT(vault->all().front()->trouble, HasSubstr("timed out"));
}

TEST_F(VaultRefreshTest, TriesAgainLaterWhereTheServerCannotBeReached) {
  put(grant_of("ada"));
  clock.advance(2h);
  servers->answers.push_back({.outcome = Outcome::unused, .why = "connection refused"});
  EXPECT_EQ(used("ada"), "exhausted");
  EXPECT_EQ(used("ada"), "exhausted");
  EXPECT_THAT(servers->sent, SizeIs(1));
  stop();
  start();
  EXPECT_EQ(state("ada"), GrantState::connected);
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_EQ(used("ada"), "Bearer a2");
}

// A server that is down for some seconds is asked again long before the token ends.
TEST_F(VaultRefreshTest, TriesAgainToRefreshATokenThatCanStillBeUsed) {
  put(grant_of("ada"));
  clock.advance(1h - 30s);
  servers->answers.push_back({.outcome = Outcome::unused, .why = "connection refused"});
  EXPECT_EQ(used("ada"), "Bearer a1");
  proteus::test::run_until(io, [&] { return servers->sent.size() == 1 && servers->answers.empty(); });
  EXPECT_EQ(used("ada"), "Bearer a1");
  clock.advance(Vault::kTryAheadAgain);
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_EQ(used("ada"), "Bearer a1");
  proteus::test::run_until(io, [&] { return used("ada") == "Bearer a2"; });
  EXPECT_THAT(servers->sent, ElementsAre("r1", "r1"));
}

// UPC-08: a refresh token that stays valid is in the store already.
TEST_F(VaultRefreshTest, UsesANewTokenThatCannotBeKeptWhereRefreshTokensDoNotRotate) {
  put(grant_of("ada"));
  clock.advance(2h);
  servers->held = true;
  servers->answers.push_back(renewed("a2", "r1"));
  proteus::test::Started<Result<GrantPointer>> asking(io, vault->usable(wanted("ada")));
  proteus::test::run_until(io, [&] { return !servers->sent.empty(); });
  store.full = true;
  servers->release();
  EXPECT_TRUE(asking.finish());
  EXPECT_EQ(used("ada"), "Bearer a2");
  store.full = false;
  clock.advance(2h);
  servers->answers.push_back(renewed("a3", "r1"));
  EXPECT_EQ(used("ada"), "Bearer a3");
  stop();
  start();
  EXPECT_EQ(used("ada"), "Bearer a3");
}

// UPC-08: a refresh token is not sent if that cannot be recorded.
TEST_F(VaultRefreshTest, SendsNoRefreshTokenWhileTheStoreIsFull) {
  put(grant_of("ada"));
  clock.advance(2h);
  store.full = true;
  EXPECT_NE(used("ada"), "Bearer a1");
  EXPECT_THAT(servers->sent, IsEmpty());
  store.full = false;
  clock.advance(5s);
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_EQ(used("ada"), "Bearer a2");
}

TEST_F(VaultRefreshTest, RefreshesATokenThatAnUpstreamRefuses) {
  const auto before = put(grant_of("ada"));
  clock.advance(1min);
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_EQ(used("ada", before->version), "Bearer a2");
  // Another request was refused with the old token.
  EXPECT_EQ(used("ada", before->version), "Bearer a2");
  EXPECT_THAT(servers->sent, SizeIs(1));
  // An upstream that refuses every token gets no new ones.
  const auto now = vault->find(wanted("ada").owner, kTarget);
  EXPECT_EQ(used("ada", now->version), "unauthenticated");
  EXPECT_THAT(servers->sent, SizeIs(1));
  EXPECT_EQ(state("ada"), GrantState::connected);
  EXPECT_EQ(used("ada"), "Bearer a2");
}

// UPC-01: an upstream has changed to another authorization server.
TEST_F(VaultRefreshTest, NeedsASignInWhereTheUpstreamNamesAnotherServer) {
  const auto before = put(grant_of("ada"));
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_EQ(used("ada", before->version), "Bearer a2");
  servers->issuer = "https://new.example";
  const auto now = vault->find(wanted("ada").owner, kTarget);
  Vault::Wanted refused = wanted("ada", now->version);
  refused.challenge = "Bearer resource_metadata=\"x\"";
  EXPECT_FALSE(use(refused));
  EXPECT_EQ(state("ada"), GrantState::needs_sign_in);
  EXPECT_THAT(servers->challenges, ElementsAre(refused.challenge));
}

TEST_F(VaultRefreshTest, NeedsASignInWhereATokenEndsThatCannotBeRefreshed) {
  put(grant_of("ada", "a1", ""));
  clock.advance(2h);
  EXPECT_EQ(used("ada"), "unauthenticated");
  EXPECT_EQ(state("ada"), GrantState::needs_sign_in);
  EXPECT_THAT(servers->sent, IsEmpty());
}

}  // namespace
}  // namespace proteus::gateway::test
