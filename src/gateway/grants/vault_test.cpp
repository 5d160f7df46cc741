#include "gateway/grants/vault.hpp"

#include <gmock/gmock.h>

#include "gateway/testing/vault_fixture.hpp"

namespace proteus::gateway::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Outcome = Refreshed::Outcome;

using VaultTest = VaultFixture;

// UPC-08
TEST_F(VaultTest, KeepsAGrantForItsOwnerAlone) {
  put(grant_of("ada"));
  EXPECT_EQ(used("ada"), "Bearer a1");
  EXPECT_EQ(used("bob"), "unauthenticated");
  EXPECT_EQ(state("bob"), GrantState::none);
  EXPECT_THAT(changes, ElementsAre("ada connected"));
}

// UPC-08
TEST_F(VaultTest, HasGrantsAfterARestart) {
  const auto before = put(grant_of("ada"));
  stop();
  start();
  EXPECT_EQ(used("ada"), "Bearer a1");
  ASSERT_THAT(vault->all(), SizeIs(1));
  EXPECT_EQ(vault->all().front()->id, before->id);
  EXPECT_EQ(vault->all().front()->resource, "https://files.example/mcp");
  EXPECT_THAT(vault->all().front()->tokens.scopes, ElementsAre("read"));
}

// UPC-14
TEST_F(VaultTest, DisconnectsAndRevokes) {
  const auto grant = put(grant_of("ada"));
  put(grant_of("bob"));
  const auto ended = proteus::test::run(io, vault->disconnect(grant->id, "ops"));
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->revoked);
  EXPECT_THAT(servers->revoked, ElementsAre("r1"));
  EXPECT_EQ(state("ada"), GrantState::none);
  EXPECT_EQ(state("bob"), GrantState::connected);
  EXPECT_EQ(proteus::test::run(io, vault->disconnect(grant->id, "ops")).error().kind(), ErrorKind::not_found);
  const auto audits = proteus::test::run(io, store.audits(10, std::nullopt));
  ASSERT_TRUE(audits);
  EXPECT_EQ(audits->front().what, "connection.remove");
  EXPECT_THAT(audits->front().detail, HasSubstr("\"ada\""));
  stop();
  start();
  EXPECT_EQ(state("ada"), GrantState::none);
}

TEST_F(VaultTest, WaitsForARefreshBeforeItDisconnects) {
  const auto grant = put(grant_of("ada"));
  clock.advance(2h);
  servers->held = true;
  proteus::test::Started<Result<GrantPointer>> asking(io, vault->usable(wanted("ada")));
  proteus::test::run_until(io, [&] { return !servers->sent.empty(); });
  proteus::test::Started<Result<Vault::Disconnected>> ending(io, vault->disconnect(grant->id, "ops"));
  servers->answers.push_back(renewed("a2", "r2"));
  servers->release();
  EXPECT_TRUE(ending.finish());
  EXPECT_TRUE(asking.finish());
  EXPECT_THAT(servers->revoked, ElementsAre("r2"));
  EXPECT_EQ(state("ada"), GrantState::none);
}

// UPC-08
TEST_F(VaultTest, KeepsNothingForAnonymousCallers) {
  Grant grant = grant_of("ada");
  grant.owner = GrantOwner();
  EXPECT_FALSE(proteus::test::run(io, vault->put(std::move(grant), "a test")));
  const Principal anonymous({.name = "", .permissions = std::make_shared<const Permissions>(permissions_of({}))});
  EXPECT_FALSE(owner_of(anonymous));
}

// UPC-08: a later holder of a name finds no grants of an earlier one.
TEST(GrantOwners, FollowFromTheSecretOfAConfiguredToken) {
  const auto permissions = std::make_shared<const Permissions>(permissions_of({}));
  const Principal before({.name = "ada", .permissions = permissions, .token = json::sha256("one")});
  const Principal after({.name = "ada", .permissions = permissions, .token = json::sha256("two")});
  EXPECT_NE(owner_of(before), owner_of(after));
  const Principal user({.name = "ada", .permissions = permissions, .key = "https://id.example\nada"});
  EXPECT_EQ(owner_of(user), GrantOwner("https://id.example\nada"));
}

// UPC-02
TEST_F(VaultTest, KeepsRegisteredClientsByIssuerAndRedirect) {
  auth::oauth::Client client;
  client.issuer = "https://as.example";
  client.id = "dynamic-1";
  client.registered = auth::oauth::Registered::dynamically;
  client.secret = Secret("of the client");
  client.redirect_uri = "https://gateway.example/oauth/callback/x";
  ASSERT_TRUE(proteus::test::run(io, vault->keep(client)));
  stop();
  start();
  const auto kept = vault->registration(client.issuer, client.redirect_uri);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->id, "dynamic-1");
  EXPECT_EQ(kept->secret, Secret("of the client"));
  EXPECT_EQ(kept->registered, auth::oauth::Registered::dynamically);
  EXPECT_FALSE(vault->registration("https://other.example", client.redirect_uri));
}

// UPC-02: the server has removed the client that was registered there.
TEST_F(VaultTest, ForgetsARegisteredClientThatItsServerNoLongerKnows) {
  auth::oauth::Client client;
  client.issuer = "https://as.example";
  client.id = "dynamic-1";
  client.registered = auth::oauth::Registered::dynamically;
  client.redirect_uri = "https://gateway.example/oauth/callback/x";
  const auto is_kept = [&] { return vault->registration(client.issuer, client.redirect_uri).has_value(); };
  const auto register_as = [&](std::string id) {
    client.id = std::move(id);
    ASSERT_TRUE(proteus::test::run(io, vault->keep(client)));
  };
  register_as("dynamic-1");
  Grant grant = grant_of("ada");
  grant.client = client;
  put(std::move(grant));
  clock.advance(2h);
  servers->answers.push_back({.outcome = Outcome::client_gone, .why = "invalid_client"});
  EXPECT_EQ(used("ada"), "unauthenticated");
  EXPECT_EQ(state("ada"), GrantState::needs_sign_in);
  EXPECT_FALSE(is_kept());
  // A server that forgets clients all the time is not asked to register one for each sign-in.
  register_as("dynamic-2");
  proteus::test::run(io, vault->forget_registration(client));
  EXPECT_TRUE(is_kept());
  clock.advance(Vault::kRegisterAgain);
  register_as("dynamic-3");
  auth::oauth::Client before = client;
  before.id = "dynamic-2";
  proteus::test::run(io, vault->forget_registration(before));
  EXPECT_TRUE(is_kept()) << "another one was registered since";
  proteus::test::run(io, vault->forget_registration(client));
  EXPECT_FALSE(is_kept());
  stop();
  start();
  EXPECT_FALSE(is_kept());
}

// UPC-11
TEST_F(VaultTest, ObtainsATokenWithoutAnybodysHelpAndKeepsItInMemoryOnly) {
  servers->automatic = kTarget;
  servers->obtained = tokens("x1", "");
  Vault::Wanted asked = wanted("ada");
  asked.caller_token = Secret("of the caller");
  EXPECT_EQ((*use(asked))->authorization(), "Bearer x1");
  EXPECT_EQ((*use(asked))->authorization(), "Bearer x1");
  EXPECT_THAT(servers->obtained_with, ElementsAre("of the caller"));
  EXPECT_THAT(vault->all(), IsEmpty());
  EXPECT_THAT(*proteus::test::run(io, store.sealed("grant")), IsEmpty());
  clock.advance(2h);
  EXPECT_TRUE(use(asked));
  EXPECT_THAT(servers->obtained_with, SizeIs(2));
}

// UPC-11, UPC-15: two programs of one user may hold tokens with different rights.
TEST_F(VaultTest, WhatACallersTokenWasExchangedForServesThatTokenAlone) {
  servers->automatic = kTarget;
  servers->automatically = Obtaining::by_caller_token;
  Vault::Wanted wide = wanted("ada");
  wide.caller_token = Secret("wide");
  Vault::Wanted narrow = wanted("ada");
  narrow.caller_token = Secret("narrow");
  servers->obtained = tokens("x-wide", "");
  EXPECT_EQ((*use(wide))->authorization(), "Bearer x-wide");
  servers->obtained = tokens("x-narrow", "");
  EXPECT_EQ((*use(narrow))->authorization(), "Bearer x-narrow");
  EXPECT_EQ((*use(wide))->authorization(), "Bearer x-wide");
  EXPECT_THAT(servers->obtained_with, ElementsAre("wide", "narrow"));
}

// UPC-11
TEST_F(VaultTest, ForgetsObtainedTokensThatHaveEnded) {
  servers->automatic = kTarget;
  servers->automatically = Obtaining::by_caller_token;
  servers->obtained = tokens("x1", "");
  Vault::Wanted first = wanted("ada");
  first.caller_token = Secret("first");
  ASSERT_TRUE(use(first));
  const GrantKey key(first.owner, first.target, first.caller_token);
  EXPECT_TRUE(vault->find(key));
  clock.advance(2h);
  servers->obtained = tokens("x2", "");
  for (int i = 0; i < 1000; ++i) {
    Vault::Wanted another = wanted("ada");
    another.caller_token = Secret(fmt::format("another {}", i));
    ASSERT_TRUE(use(another));
  }
  EXPECT_FALSE(vault->find(key));
}

// UPC-11: a request without a caller's token, such as one that follows a resource, does not keep the next request from
// getting a token.
TEST_F(VaultTest, AskingWithoutACallersTokenIsNoFailureOfTheServer) {
  servers->automatic = kTarget;
  servers->automatically = Obtaining::by_caller_token;
  servers->obtained = tokens("x1", "");
  const auto without = use(wanted("ada"));
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().kind(), ErrorKind::unauthenticated);
  Vault::Wanted asked = wanted("ada");
  asked.caller_token = Secret("of the caller");
  EXPECT_EQ((*use(asked))->authorization(), "Bearer x1");
  EXPECT_THAT(servers->obtained_with, ElementsAre("of the caller"));
}

// UPC-10
TEST_F(VaultTest, AsksForMoreScopesABoundedNumberOfTimes) {
  const auto grant = put(grant_of("ada"));
  EXPECT_FALSE(vault->widen(*grant, {"read"}));
  EXPECT_THAT(vault->widen(*grant, {"write"}).value(), ElementsAre("read", "write"));
  int more = 0;
  while (vault->widen(*grant, {"scope-" + std::to_string(more)}) && more < 100)
    ++more;
  EXPECT_LT(more, 10);
  clock.advance(Vault::kWideningLife);
  EXPECT_THAT(vault->widen(*grant, {"delete"}).value(), ElementsAre("read", "delete"));
}

// UPC-10: two calls at once lead to one question, and a user who ignores it is asked again at the next call.
TEST_F(VaultTest, AsksForTheSameScopesUntilTheOwnerSignsIn) {
  const auto grant = put(grant_of("ada"));
  EXPECT_THAT(vault->widen(*grant, {"write"}).value(), ElementsAre("read", "write"));
  EXPECT_THAT(vault->widen(*grant, {"write"}).value(), ElementsAre("read", "write"));
  clock.advance(Vault::kWideningLife);
  EXPECT_THAT(vault->widen(*grant, {"write"}).value(), ElementsAre("read", "write"));
  // The authorization server did not grant it.
  Grant refused = grant_of("ada");
  refused.asked = {"read", "write"};
  const auto same = put(std::move(refused));
  EXPECT_FALSE(vault->widen(*same, {"write"}));
  clock.advance(Vault::kWideningLife);
  EXPECT_TRUE(vault->widen(*same, {"write"}));
  Grant wider = grant_of("ada");
  wider.tokens.scopes = {"read", "write"};
  const auto granted = put(std::move(wider));
  EXPECT_FALSE(vault->widen(*granted, {"write"}));
  EXPECT_THAT(vault->widen(*granted, {"delete"}).value(), ElementsAre("read", "write", "delete"));
}

// UPC-10: an upstream demands more while the owner is at the authorization server, or they sign in for something else.
TEST_F(VaultTest, NoScopesAreRefusedThatTheSignInDidNotAskFor) {
  const auto grant = put(grant_of("ada"));
  EXPECT_TRUE(vault->widen(*grant, {"write"}));
  Grant wider = grant_of("ada");
  wider.asked = wider.tokens.scopes = {"read", "write"};
  EXPECT_TRUE(vault->widen(*grant, {"delete"}));
  const auto granted = put(std::move(wider));
  EXPECT_THAT(vault->widen(*granted, {"delete"}).value(), ElementsAre("read", "write", "delete"));
  Grant plain = grant_of("ada");
  plain.asked = {"read"};
  EXPECT_TRUE(vault->widen(*put(std::move(plain)), {"write"}));
}

// UPC-11
TEST_F(VaultTest, ObtainsAtOnceWhatASignInAllows) {
  servers->automatic = kTarget;
  servers->refused = errors::unauthenticated("nobody has signed in");
  EXPECT_EQ(used("ada"), to_string(ErrorKind::unauthenticated));
  servers->refused.reset();
  servers->obtained = tokens("by-chain", "");
  EXPECT_EQ(used("ada"), to_string(ErrorKind::unauthenticated)) << "it was asked for just now";
  Grant identity = grant_of("ada");
  identity.target = identity_target("https://id.example");
  put(std::move(identity));
  EXPECT_EQ(used("ada"), "Bearer by-chain");
}

// UPC-14: the end of a sign-in at the identity provider also ends what was obtained by it.
TEST_F(VaultTest, ForgetsWhatWasObtainedByASignInThatHasEnded) {
  Grant identity = grant_of("ada");
  identity.target = identity_target("https://id.example");
  const auto kept = put(std::move(identity));
  put(grant_of("bob"));
  servers->automatic = GrantTarget(std::string("https://chat.example/mcp\nidentity_assertion\n\n"));
  servers->obtained = tokens("by-chain", "");
  const auto wanted_of = [&](const char* name) {
    auto given = wanted(name);
    given.target = servers->automatic;
    return given;
  };
  ASSERT_TRUE(use(wanted_of("ada")));
  ASSERT_TRUE(use(wanted_of("bob")));
  ASSERT_TRUE(proteus::test::run(io, vault->disconnect(kept->id, "a test")));
  EXPECT_EQ(vault->state(kept->owner, servers->automatic), GrantState::none);
  EXPECT_EQ(vault->state(wanted("bob").owner, servers->automatic), GrantState::connected);
  EXPECT_EQ(state("bob"), GrantState::connected);
}

// UPC-14
TEST_F(VaultTest, UsesNothingThatWasBeingObtainedWhenTheSignInEnded) {
  Grant identity = grant_of("ada");
  identity.target = identity_target("https://id.example");
  const auto kept = put(std::move(identity));
  servers->automatic = kTarget;
  servers->obtained = tokens("by-chain", "");
  servers->held = true;
  proteus::test::Started<Result<GrantPointer>> asking(io, vault->usable(wanted("ada")));
  proteus::test::run_until(io, [&] { return !servers->obtained_with.empty(); });
  servers->refused = errors::unauthenticated("nobody has signed in");
  ASSERT_TRUE(proteus::test::run(io, vault->disconnect(kept->id, "a test")));
  servers->release();
  EXPECT_FALSE(asking.finish());
  EXPECT_EQ(state("ada"), GrantState::none);
}

}  // namespace
}  // namespace proteus::gateway::test
