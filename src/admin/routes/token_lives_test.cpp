// OAU-14: lifetimes of tokens that operators make.
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/token_fixture.hpp"

namespace proteus::admin {
namespace {

using namespace test;
using boost::json::array;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// OAU-10
TEST_F(Tokens, ExpireWithAllThatIsOpen) {
  const std::string secret = made({{"name", "ci"}, {"expires", "1h"}});
  const auto stream = listen(secret);
  const auto running_call = call(secret);
  fixture.clock.skip(std::chrono::minutes(59));
  look_over();
  EXPECT_EQ(status_for(secret), 200);
  fixture.clock.skip(std::chrono::minutes(1));
  EXPECT_EQ(status_for(secret), 401);
  look_over();
  expect_end(*stream);
  const auto answer = running_call->read_answer();
  EXPECT_EQ(answer.json().at("error").at("message"), "the token has expired: the request was cancelled");
  EXPECT_EQ(shown("ci").at("state"), "expired");

  EXPECT_EQ(rotate("ci").status, 409);
  const std::string renewed = secret_in(rotate("ci", R"({"expires":"1h"})"));
  EXPECT_EQ(status_for(renewed), 200);
  EXPECT_EQ(status_for(secret), 401) << "it had expired";
}

// OAU-14: a rotation repairs a damaged secret, and widens no rights.
TEST_F(Tokens, KeepTheirLimitsWhereTheirRecordIsDamaged) {
  made({{"name", "ci"}, {"tools", array{"bank_other"}}});
  const auto damage = [&](auto member) {
    auto record = fixture.run(store.tokens()).value().front();
    record.*member = "{";
    store::Writes writes;
    writes.emplace_back(store::PutToken{std::move(record)});
    ASSERT_TRUE(fixture.run(store.write(std::move(writes))));
    ASSERT_TRUE(fixture.run(fixture.tokens.load()));
    EXPECT_EQ(shown("ci").at("state"), "failed");
  };
  damage(&store::TokenRecord::secrets);
  EXPECT_EQ(shown("ci").at("tools"), array{"bank_other"});
  EXPECT_EQ(status_for(secret_in(rotate("ci"))), 200);
  EXPECT_EQ(shown("ci").at("tools"), array{"bank_other"});
  damage(&store::TokenRecord::access);
  const Reply refused = rotate("ci");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("cannot be read"));
}

// OAU-10
TEST_F(Tokens, OfTheConfigurationExpireToo) {
  refuse_strangers({{.name = "filed", .token = Secret("f"), .expires = fixture.clock.wall() + std::chrono::hours(1)},
                    {.name = "other", .token = Secret("o")}});
  const auto stream = listen("f");
  const auto running_call = call("f");
  fixture.clock.skip(std::chrono::minutes(61));
  EXPECT_EQ(status_for("f"), 401);
  look_over();
  expect_end(*stream);
  EXPECT_THAT(running_call->read_answer().body, HasSubstr("the token has expired"));
  EXPECT_EQ(shown("filed").at("state"), "expired");
  EXPECT_EQ(status_for("o"), 200);
}

// AUT-04: a call ends with the token, as a stream does.
TEST_F(Tokens, OfTheConfigurationEndTheirCallsWhenTheyGo) {
  const gateway::PrincipalSettings other{.name = "other", .token = Secret("o")};
  refuse_strangers({{.name = "filed", .token = Secret("f")}, other});
  const std::string secret = made({{"name", "ci"}});
  const auto gone = call("f");
  const auto of_other = call("o");
  const auto of_runtime = call(secret);
  refuse_strangers({other});
  EXPECT_THAT(gone->read_answer().body, HasSubstr("the configuration no longer grants this"));
  wait_until([&] { return cancelled == 1; });
  EXPECT_EQ(status_for(secret), 200) << "a reload takes no token away that was made here";
}

TEST_F(Tokens, ComeBackAfterARestartWithWhenTheyWereUsed) {
  const std::string secret = made({{"name", "ci"}, {"upstreams", array{"bank"}}});
  const std::string rotated = secret_in(rotate("ci"));
  EXPECT_EQ(status_for(rotated), 200);
  fixture.clock.skip(std::chrono::minutes(2));
  look_over();
  for (const auto& record : fixture.run(store.tokens()).value()) {
    EXPECT_THAT(record.secrets, Not(HasSubstr(secret)));
    EXPECT_NE(record.last_used_at, store::Time{});
  }
  const value before = shown("ci");
  gateway::TokenRegistry again({fixture.workers.at(0), fixture.gateway, store, fixture.clock});
  ASSERT_TRUE(fixture.run(again.load()));
  EXPECT_EQ(status_for(secret), 200);
  EXPECT_EQ(status_for(rotated), 200);
  const auto loaded = again.find("ci");
  EXPECT_THAT(loaded->keys.upstreams, ElementsAre("bank"));
  EXPECT_NE(loaded->used_before, store::Time{});
}

TEST_F(Tokens, AreNotMadeWhereTheStoreDoesNotTakeThem) {
  const std::string secret = made({{"name", "ci"}});
  store.full = true;
  EXPECT_EQ(create({{"name", "other"}}).status, 503);
  EXPECT_EQ(rotate("ci").status, 503);
  EXPECT_EQ(status_for(secret), 200);
  EXPECT_EQ(shown("other").at("status"), 404);

  const auto revoked = revoke("ci");
  EXPECT_EQ(revoked.status, 200) << "a full disk keeps no token alive";
  EXPECT_EQ(revoked.json().at("durable"), false);
  EXPECT_EQ(status_for(secret), 401);
  EXPECT_THAT(fixture.run(store.tokens()).value(), SizeIs(1));
  store.full = false;
  look_over();
  EXPECT_THAT(fixture.run(store.tokens()).value(), IsEmpty());
  EXPECT_EQ(audited().front(), "token.revoke");
}

// REP-06
TEST_F(Tokens, AreRefusedWhileRevocationsMayHaveBeenMissed) {
  refuse_strangers({{.name = "filed", .token = Secret("f")}});
  const std::string secret = made({{"name", "ci"}});
  const auto set_blind = [&](bool blind) {
    boost::asio::post(fixture.workers.at(0), boost::asio::use_future([&] { fixture.tokens.set_blind(blind); })).get();
  };
  set_blind(true);
  EXPECT_EQ(status_for(secret), 401);
  EXPECT_EQ(status_for("f"), 200) << "nobody revokes those of the file elsewhere";
  EXPECT_EQ(status_for(made({{"name", "new"}})), 401) << "it could have been revoked since";
  set_blind(false);
  EXPECT_EQ(status_for(secret), 200);
}

// REP-03: a revocation that is written later affects only the token that was revoked.
TEST_F(Tokens, ThatWereRevokedTakeNoOthersOfTheirNameWithThem) {
  const gateway::TokenRegistry::Dependencies shared{fixture.workers.at(0), fixture.gateway, store, fixture.clock, true};
  gateway::TokenRegistry here(shared);
  ASSERT_TRUE(fixture.run(here.create(object{{"name", "ci"}}, "a test")));
  store.full = true;
  EXPECT_FALSE(fixture.run(here.revoke("ci", "a test")).value().is_durable);
  store.full = false;
  gateway::TokenRegistry there(shared);
  ASSERT_TRUE(fixture.run(there.load()));
  EXPECT_TRUE(fixture.run(there.revoke("ci", "a test")).value().is_durable);
  fixture.clock.skip(std::chrono::seconds(1));
  ASSERT_TRUE(fixture.run(there.create(object{{"name", "ci"}}, "a test")));
  fixture.run(here.look_over());
  EXPECT_THAT(fixture.run(store.tokens()).value(), SizeIs(1));
  ASSERT_TRUE(fixture.run(here.follow("ci")));
  EXPECT_TRUE(here.find("ci"));
}

// REP-03: a token that was rotated meanwhile is still the same token.
TEST_F(Tokens, ThatWereRevokedAreGoneAlsoWhereTheyWereRotatedMeanwhile) {
  const gateway::TokenRegistry::Dependencies shared{fixture.workers.at(0), fixture.gateway, store, fixture.clock, true};
  gateway::TokenRegistry here(shared);
  ASSERT_TRUE(fixture.run(here.create(object{{"name", "ci"}}, "a test")));
  gateway::TokenRegistry there(shared);
  ASSERT_TRUE(fixture.run(there.load()));
  ASSERT_TRUE(fixture.run(there.rotate("ci", object{}, "a test")));
  EXPECT_TRUE(fixture.run(here.revoke("ci", "a test")).value().is_durable);
  EXPECT_THAT(fixture.run(store.tokens()).value(), IsEmpty());
}

// OAU-14: a request that was admitted before a rotation may still be under way when the token is revoked.
TEST_F(Tokens, AreWithdrawnWithEachPrincipalThatTheirSecretHad) {
  const std::string secret = made({{"name", "ci"}});
  const auto admitted = fixture.tokens.find("ci")->principal;
  EXPECT_EQ(rotate("ci", R"({"overlap":"24h"})").status, 200);
  EXPECT_TRUE(admitted->holds());
  EXPECT_EQ(status_for(secret), 200);
  revoke("ci");
  EXPECT_FALSE(admitted->holds());
}

// REP-02
TEST_F(Tokens, AreWithdrawnWhereAnotherProcessRevokesThem) {
  const gateway::TokenRegistry::Dependencies shared{fixture.workers.at(0), fixture.gateway, store, fixture.clock, true};
  gateway::TokenRegistry here(shared);
  ASSERT_TRUE(fixture.run(here.create(object{{"name", "ci"}}, "a test")));
  gateway::TokenRegistry there(shared);
  ASSERT_TRUE(fixture.run(there.load()));
  const auto admitted = there.find("ci")->principal;
  ASSERT_TRUE(fixture.run(here.rotate("ci", object{{"overlap", "24h"}}, "a test")));
  ASSERT_TRUE(fixture.run(there.follow("ci")));
  EXPECT_TRUE(admitted->holds()) << "its secret still works";
  ASSERT_TRUE(fixture.run(here.revoke("ci", "a test")));
  ASSERT_TRUE(fixture.run(there.follow("ci")));
  EXPECT_FALSE(admitted->holds());
}

// A tool session cannot bind a token that belongs to a principal.
TEST_F(Tokens, AreNobodyElses) {
  const std::string secret = made({{"name", "ci"}});
  const auto taken =
      fixture.ask("POST", "/admin/session/init", object{{"session_id", "s"}, {"user_token", secret}, {"user_id", 7}});
  EXPECT_EQ(taken.status, 409);
}

}  // namespace
}  // namespace proteus::admin
