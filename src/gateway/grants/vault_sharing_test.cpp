// Two processes that share a store, each with its vault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/testing/vault_fixture.hpp"

namespace proteus::gateway {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SharedVaultTest : public test::VaultFixture {
 protected:
  SharedVaultTest() : VaultFixture(true) {
    alice = put(grant_of("alice"));
    others = std::make_unique<test::ScriptedServers>(io);
    other = std::make_unique<Vault>(Vault::Dependencies{io, store, clock, *others, true});
    EXPECT_TRUE(proteus::test::run(io, other->load()));
  }
  ~SharedVaultTest() override {
    others->release();
    proteus::test::run(io, other->close());
  }

  std::string used_at_other() {
    const auto grant = proteus::test::run(io, other->usable(wanted("alice")));
    return grant ? (*grant)->authorization() : std::string(to_string(grant.error().kind()));
  }

  GrantPointer alice;
  std::unique_ptr<test::ScriptedServers> others;
  std::unique_ptr<Vault> other;
};

// UPC-08
TEST_F(SharedVaultTest, SendsARefreshTokenFromOneProcessOnly) {
  clock.advance(2h);
  servers->held = true;
  servers->answers.push_back(renewed("a2", "r2"));
  std::optional<Result<GrantPointer>> here;
  std::optional<Result<GrantPointer>> there;
  boost::asio::co_spawn(io, vault->usable(wanted("alice")), [&](auto, auto result) { here = std::move(result); });
  proteus::test::run_until(io, [&] { return !servers->sent.empty(); });
  boost::asio::co_spawn(io, other->usable(wanted("alice")), [&](auto, auto result) { there = std::move(result); });
  servers->release();
  proteus::test::run_until(io, [&] { return here && there; });
  EXPECT_EQ((**here)->authorization(), "Bearer a2");
  EXPECT_EQ((**there)->authorization(), "Bearer a2");
  EXPECT_THAT(servers->sent, ElementsAre("r1"));
  EXPECT_THAT(others->sent, IsEmpty());
}

// UPC-08: also if the server would accept the same refresh token twice.
TEST_F(SharedVaultTest, SendsARefreshTokenThatStaysFromOneProcessOnly) {
  clock.advance(2h);
  servers->answers.push_back(renewed("a2", "r1"));
  EXPECT_EQ(used("alice"), "Bearer a2");
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", alice->id)));
  clock.advance(2h);
  servers->held = true;
  servers->answers.push_back(renewed("a3", "r1"));
  std::optional<Result<GrantPointer>> here;
  std::optional<Result<GrantPointer>> there;
  boost::asio::co_spawn(io, vault->usable(wanted("alice")), [&](auto, auto result) { here = std::move(result); });
  proteus::test::run_until(io, [&] { return servers->sent.size() == 2; });
  boost::asio::co_spawn(io, other->usable(wanted("alice")), [&](auto, auto result) { there = std::move(result); });
  servers->release();
  proteus::test::run_until(io, [&] { return here && there; });
  EXPECT_EQ((**here)->authorization(), "Bearer a3");
  EXPECT_EQ((**there)->authorization(), "Bearer a3");
  EXPECT_THAT(others->sent, IsEmpty());
}

// UPC-08: a process that died during a refresh does not keep others from refreshing.
TEST_F(SharedVaultTest, SendsARefreshTokenThatStaysWhereTheOtherOneDied) {
  clock.advance(2h);
  servers->answers.push_back(renewed("a2", "r1"));
  EXPECT_EQ(used("alice"), "Bearer a2");
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", alice->id)));
  clock.advance(2h);
  servers->held = true;
  boost::asio::co_spawn(io, vault->usable(wanted("alice")), [](auto, auto) {});
  proteus::test::run_until(io, [&] { return servers->sent.size() == 2; });
  others->answers.push_back(renewed("a3", "r1"));
  EXPECT_EQ(used_at_other(), "Bearer a3");
  EXPECT_THAT(others->sent, ElementsAre("r1"));
}

// REP-02
TEST_F(SharedVaultTest, FollowsWhatTheOtherGotAndLost) {
  Grant bob = grant_of("bob");
  const auto kept = put(bob);
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", kept->id)));
  EXPECT_EQ(other->state(kept->owner, kept->target), GrantState::connected);
  EXPECT_TRUE(proteus::test::run(io, vault->disconnect(kept->id, "a test")));
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", kept->id)));
  EXPECT_EQ(other->state(kept->owner, kept->target), GrantState::none);
}

// UPC-11, UPC-14: what is obtained by a sign-in begins and ends with it, wherever that happens.
TEST_F(SharedVaultTest, ObtainsByASignInOfAnotherProcessUntilItEndsThere) {
  others->automatic = GrantTarget(std::string("https://chat.example/mcp\nidentity_assertion\n\n"));
  const auto by_chain = [&] {
    auto given = wanted("alice");
    given.target = others->automatic;
    return proteus::test::run(io, other->usable(given));
  };
  others->refused = errors::unauthenticated("nobody has signed in");
  EXPECT_FALSE(by_chain());
  others->refused.reset();
  others->obtained = tokens("by-chain", "");
  Grant identity = grant_of("alice");
  identity.target = identity_target("https://id.example");
  const auto kept = put(std::move(identity));
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", kept->id)));
  EXPECT_TRUE(by_chain());
  EXPECT_TRUE(proteus::test::run(io, vault->disconnect(kept->id, "a test")));
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", kept->id)));
  EXPECT_EQ(other->state(kept->owner, others->automatic), GrantState::none);
  EXPECT_EQ(other->state(alice->owner, alice->target), GrantState::connected);
}

// UPC-10
TEST_F(SharedVaultTest, KnowsWhichScopesASignInAtAnotherProcessAskedFor) {
  const auto widens = [&] { return other->widen(*other->find(alice->owner, alice->target), {"write"}).has_value(); };
  const auto sign_in = [&](auth::oauth::Scopes asked) {
    clock.advance(1s);
    Grant anew = grant_of("alice");
    anew.asked = std::move(asked);
    EXPECT_TRUE(proteus::test::run(io, other->follow("grant", put(std::move(anew))->id)));
  };
  EXPECT_TRUE(widens());
  sign_in({"read"});
  EXPECT_TRUE(widens());
  sign_in({"read", "write"});
  EXPECT_FALSE(widens());
}

// REP-02
TEST_F(SharedVaultTest, UsesTheTokenThatTheOtherGotByARefresh) {
  clock.advance(2h);
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_EQ(used("alice"), "Bearer a2");
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", alice->id)));
  EXPECT_EQ(used_at_other(), "Bearer a2");
  EXPECT_THAT(others->sent, IsEmpty());
}

// REP-03: a refresh of the old grant does not overwrite what the owner connected meanwhile.
TEST_F(SharedVaultTest, KeepsANewSignInThatHappenedDuringARefresh) {
  clock.advance(2h);
  servers->held = true;
  servers->answers.push_back(renewed("a2", "r2"));
  std::optional<Result<GrantPointer>> here;
  boost::asio::co_spawn(io, vault->usable(wanted("alice")), [&](auto, auto result) { here = std::move(result); });
  proteus::test::run_until(io, [&] { return !servers->sent.empty(); });
  Grant anew = grant_of("alice", "a9", "r9");
  anew.id = alice->id;
  ASSERT_TRUE(proteus::test::run(io, other->put(std::move(anew), "a test")));
  servers->release();
  proteus::test::run_until(io, [&] { return here.has_value(); });
  EXPECT_EQ((**here)->authorization(), "Bearer a9");
}

// REP-03: the refresh of the old grant is refused, because the owner has connected a new one.
TEST_F(SharedVaultTest, ARefusedRefreshEndsNoSignInOfAnotherProcess) {
  clock.advance(2h);
  servers->held = true;
  servers->answers.push_back({.outcome = Refreshed::Outcome::refused, .why = "invalid_grant"});
  std::optional<Result<GrantPointer>> here;
  boost::asio::co_spawn(io, vault->usable(wanted("alice")), [&](auto, auto result) { here = std::move(result); });
  proteus::test::run_until(io, [&] { return !servers->sent.empty(); });
  Grant anew = grant_of("alice", "a9", "r9");
  anew.id = alice->id;
  ASSERT_TRUE(proteus::test::run(io, other->put(std::move(anew), "a test")));
  EXPECT_TRUE(proteus::test::run(io, vault->follow("grant", alice->id)));
  servers->release();
  proteus::test::run_until(io, [&] { return here.has_value(); });
  ASSERT_TRUE(*here) << here->error().message();
  EXPECT_EQ((**here)->authorization(), "Bearer a9");
}

// REP-03: what another process changes during a refresh is seen afterwards, whatever becomes of the refresh.
TEST_F(SharedVaultTest, FollowsWhatChangedDuringAChangeOfItsOwn) {
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_EQ(used("alice", alice->version), "Bearer a2");
  const auto now = vault->find(alice->owner, alice->target);
  servers->held = true;
  proteus::test::Started<Result<GrantPointer>> asking(io, vault->usable(wanted("alice", now->version)));
  proteus::test::run_until(io, [&] { return !servers->challenges.empty(); });
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", alice->id)));
  EXPECT_TRUE(proteus::test::run(io, other->disconnect(alice->id, "a test")));
  EXPECT_TRUE(proteus::test::run(io, vault->follow("grant", alice->id)));
  EXPECT_EQ(vault->state(alice->owner, alice->target), GrantState::connected);
  servers->release();
  EXPECT_FALSE(asking.finish());
  proteus::test::run_until(io, [&] { return vault->state(alice->owner, alice->target) == GrantState::none; });
}

// REP-03: a user disconnects and signs in again at another process during a change, so that there are two records.
TEST_F(SharedVaultTest, FollowsAllThatChangedDuringAChangeOfItsOwn) {
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_EQ(used("alice", alice->version), "Bearer a2");
  const auto now = vault->find(alice->owner, alice->target);
  servers->held = true;
  proteus::test::Started<Result<GrantPointer>> asking(io, vault->usable(wanted("alice", now->version)));
  proteus::test::run_until(io, [&] { return !servers->challenges.empty(); });
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", alice->id)));
  EXPECT_TRUE(proteus::test::run(io, other->disconnect(alice->id, "a test")));
  clock.advance(1s);
  const auto anew = proteus::test::run(io, other->put(grant_of("alice", "a9", "r9"), "a test")).value();
  ASSERT_NE(anew->id, alice->id);
  EXPECT_TRUE(proteus::test::run(io, vault->follow("grant", anew->id)));
  EXPECT_TRUE(proteus::test::run(io, vault->follow("grant", alice->id)));
  servers->release();
  EXPECT_FALSE(asking.finish());
  proteus::test::run_until(io, [&] {
    const auto grant = vault->find(alice->owner, alice->target);
    return grant && grant->id == anew->id;
  });
  proteus::test::settle(io);
  EXPECT_EQ(used("alice"), "Bearer a9");
}

// REP-03: a grant is about to be given up, and its owner signs in again at another process.
TEST_F(SharedVaultTest, UsesANewSignInThatHappenedDuringALookForTheServer) {
  servers->answers.push_back(renewed("a2", "r2"));
  EXPECT_EQ(used("alice", alice->version), "Bearer a2");
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", alice->id)));
  servers->held = true;
  servers->issuer = "https://new.example";
  const auto now = vault->find(alice->owner, alice->target);
  proteus::test::Started<Result<GrantPointer>> asking(io, vault->usable(wanted("alice", now->version)));
  proteus::test::run_until(io, [&] { return !servers->challenges.empty(); });
  Grant anew = grant_of("alice", "a9", "r9");
  anew.id = alice->id;
  ASSERT_TRUE(proteus::test::run(io, other->put(std::move(anew), "a test")));
  servers->release();
  const auto found = asking.finish();
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ((*found)->authorization(), "Bearer a9");
  // That is no failure of the server, so it is asked again at once.
  servers->answers.push_back(renewed("a10", "r10"));
  EXPECT_EQ(used("alice", (*found)->version), "Bearer a10");
}

// REP-03: the clock of one process is slow, so that a sign-in there seems older than one that has ended meanwhile.
TEST_F(SharedVaultTest, KeepsASignInThatSeemsOlderThanOneThatIsGone) {
  clock.advance(1h);
  const auto gone = put(grant_of("bob", "b1", "r1"));
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", gone->id)));
  EXPECT_TRUE(proteus::test::run(io, other->disconnect(gone->id, "a test")));
  const ManualClock slow;
  test::ScriptedServers none(io);
  Vault behind({io, store, slow, none, true});
  const auto kept = proteus::test::run(io, behind.put(grant_of("bob", "b2", "r2"), "a test")).value();
  ASSERT_LT(kept->connected_at, gone->connected_at);
  EXPECT_TRUE(proteus::test::run(io, vault->follow("grant", kept->id)));
  EXPECT_EQ(used("bob"), "Bearer b2");
  EXPECT_THAT(changes, ::testing::Contains("bob none"));
  EXPECT_TRUE(proteus::test::run(io, store.sealed_record("grant", kept->id)).value());
  proteus::test::run(io, behind.close());
}

// REP-03: a user's first sign-in happens at two processes at once.
TEST_F(SharedVaultTest, KeepsOneOfTwoFirstSignIns) {
  const auto older = put(grant_of("bob", "b1", "r1"));
  clock.advance(1s);
  Grant anew = grant_of("bob", "b2", "r2");
  const auto newer = proteus::test::run(io, other->put(std::move(anew), "a test")).value();
  ASSERT_NE(older->id, newer->id);
  EXPECT_TRUE(proteus::test::run(io, vault->follow("grant", newer->id)));
  EXPECT_TRUE(proteus::test::run(io, other->follow("grant", older->id)));
  EXPECT_EQ(used("bob"), "Bearer b2");
  EXPECT_EQ(other->find(newer->owner, newer->target)->authorization(), "Bearer b2");
  EXPECT_TRUE(proteus::test::run(io, other->disconnect(newer->id, "a test")));
  EXPECT_TRUE(proteus::test::run(io, vault->follow("grant", newer->id)));
  stop();
  start();
  EXPECT_EQ(state("bob"), GrantState::none);
}

}  // namespace
}  // namespace proteus::gateway
