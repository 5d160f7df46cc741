// Which variables and programs an upstream may name if it is registered over the admin API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"
#include "store/testing/full_store.hpp"

namespace proteus::admin {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Environment with_secrets() {
  return fixed_environment({{"PROTEUS_PEPPER", "the-pepper"},
                            {"CI_TOKEN", "of-a-caller"},
                            {"LISTED", "hunter2"},
                            {"OF_THE_FILE", "hunter2"},
                            {"ANY_OTHER", "of-the-machine"}});
}

gateway::RegistrationSettings listing() {
  return {.environment = {"LISTED", "PROTEUS_PEPPER"}, .own_secrets = {"PROTEUS_PEPPER", "CI_TOKEN"}};
}

object bearer(std::string_view variable) { return {{"type", "bearer"}, {"token_env", variable}}; }

std::vector<std::string> pointers(const Reply& reply) {
  std::vector<std::string> out;
  const value body = reply.json();
  if (const auto* all = body.as_object().if_contains("errors"); all != nullptr) {
    for (const auto& one : all->as_array())
      out.emplace_back(one.at("pointer").as_string());
  }
  return out;
}

class Registration : public ::testing::Test {
 protected:
  // Two upstreams of the file: one with a token, and one that is a program.
  AdminFixture::File file() const {
    return {.upstreams = {entry({{"name", "filed"}, {"url", there.url()}, {"authentication", bearer("OF_THE_FILE")}}),
                          entry({{"name", "program"}, {"command", {"cat"}}, {"pass_environment", {"OF_THE_FILE"}}})},
            .defaults = {},
            .registration = listing()};
  }
  object at(const TestUpstream& upstream, object more) const {
    object keys{{"name", "bank"}, {"url", upstream.url()}};
    for (const auto& member : more)
      keys[member.key()] = member.value();
    return keys;
  }

  TestUpstream there{"hunter2"};
  TestUpstream elsewhere{"hunter2"};
  store::MemoryStore memory;
  AdminFixture fixture{memory, file(), {.allow_loopback = true}, with_secrets()};
};

// SEC-01: an upstream receives no variable that the configuration does not name for it.
TEST_F(Registration, NamesOnlyVariablesThatTheConfigurationNames) {
  for (const auto* variable : {"ANY_OTHER", "OF_THE_FILE", "NOT_SET"}) {
    const auto refused = fixture.ask("POST", "/admin/upstreams", at(elsewhere, {{"authentication", bearer(variable)}}));
    EXPECT_EQ(refused.status, 400) << variable;
    EXPECT_THAT(pointers(refused), ElementsAre("/authentication/token_env"));
    EXPECT_THAT(refused.body, HasSubstr(std::string("does not name ") + variable));
  }
  const auto header = fixture.ask(
      "POST", "/admin/upstreams",
      at(elsewhere, {{"authentication", {{"type", "header"}, {"name", "X-Key"}, {"value_env", "ANY_OTHER"}}}}));
  EXPECT_THAT(pointers(header), ElementsAre("/authentication/value_env"));
  const auto basic = fixture.ask(
      "POST", "/admin/upstreams",
      at(elsewhere, {{"authentication", {{"type", "basic"}, {"username", "u"}, {"password_env", "ANY_OTHER"}}}}));
  EXPECT_THAT(pointers(basic), ElementsAre("/authentication/password_env"));
  EXPECT_EQ(elsewhere.requests, 0);

  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams", at(elsewhere, {{"authentication", bearer("LISTED")}})).status, 201);
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  EXPECT_EQ(fixture.ask("DELETE", "/admin/upstreams/bank").status, 200);
  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams", at(there, {{"authentication", bearer("OF_THE_FILE")}})).status,
            201);
}

TEST_F(Registration, NeverNamesSecretsOfTheGateway) {
  for (const auto* variable : {"PROTEUS_PEPPER", "CI_TOKEN"}) {
    const auto refused = fixture.ask("POST", "/admin/upstreams", at(elsewhere, {{"authentication", bearer(variable)}}));
    EXPECT_EQ(refused.status, 400) << variable;
    EXPECT_THAT(pointers(refused), ElementsAre("/authentication/token_env"));
    EXPECT_THAT(refused.body, HasSubstr("secret of Proteus itself"));
  }
  EXPECT_EQ(elsewhere.requests, 0);
}

TEST_F(Registration, GivesProgramsOnlyVariablesThatTheConfigurationNames) {
  const auto refused = fixture.ask("POST", "/admin/upstreams",
                                   {{"name", "new"},
                                    {"command", {"cat", "-u"}},
                                    {"pass_environment", {"LISTED", "ANY_OTHER", "OF_THE_FILE", "PROTEUS_PEPPER"}}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(pointers(refused), ElementsAre("/pass_environment/1", "/pass_environment/2", "/pass_environment/3"));
}

// A changed URL or command does not take the secrets of the file to another place.
TEST_F(Registration, DoesNotMoveATokenOfTheFileElsewhere) {
  const auto moved = fixture.ask("PATCH", "/admin/upstreams/filed", {{"url", elsewhere.url()}});
  EXPECT_EQ(moved.status, 400);
  EXPECT_THAT(pointers(moved), ElementsAre("/url"));
  const auto other = fixture.ask("PATCH", "/admin/upstreams/program", {{"command", {"env"}}});
  EXPECT_THAT(pointers(other), ElementsAre("/command"));
  EXPECT_EQ(elsewhere.requests, 0);
  EXPECT_EQ(fixture.ask("PATCH", "/admin/upstreams/filed", {{"timeout", "9s"}}).status, 200);
  EXPECT_EQ(fixture
                .ask("PATCH", "/admin/upstreams/filed",
                     {{"url", elsewhere.url()}, {"authentication", {{"type", "bearer"}, {"token", "hunter2"}}}})
                .status,
            200);
}

TEST_F(Registration, OfProgramsCanBeTurnedOff) {
  auto without = file();
  without.registration.programs = gateway::Commands::refused;
  ASSERT_TRUE(fixture.load(without));
  const auto refused = fixture.ask("POST", "/admin/upstreams", {{"name", "new"}, {"command", {"cat"}}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(pointers(refused), ElementsAre("/command"));
  const auto changed = fixture.ask("PATCH", "/admin/upstreams/program", {{"environment", {{"LD_PRELOAD", "/tmp/x"}}}});
  EXPECT_THAT(pointers(changed), ElementsAre("/environment"));
  EXPECT_EQ(fixture.ask("PATCH", "/admin/upstreams/program", {{"timeout", "9s"}}).status, 200);
}

// A stored upstream that is no longer allowed stays in the list, and says why it is not served.
TEST_F(Registration, ThatNoLongerFitsIsKeptAndNotServed) {
  // Of one era, so that no probe for a legacy side is counted.
  const object listed = at(elsewhere, {{"era", "modern"}, {"authentication", bearer("LISTED")}});
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", listed).status, 201);
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  auto less = file();
  less.registration.environment.clear();
  ASSERT_TRUE(fixture.load(less));
  const int requests = elsewhere.requests;
  EXPECT_EQ(fixture.get("bank").at("state"), "failed");
  EXPECT_THAT(fixture.get("bank").at("last_error").as_string().c_str(), HasSubstr("does not name LISTED"));
  EXPECT_THAT(fixture.tools(), Not(::testing::Contains("bank_ping")));
  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams/bank/refresh").status, 409);
  EXPECT_EQ(elsewhere.requests, requests);
  ASSERT_TRUE(fixture.load(file()));
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
}

// `[defaults.upstream]` also applies to upstreams that are registered.
TEST_F(Registration, InheritsWhatTheDefaultsName) {
  auto more = file();
  more.defaults.authentication.type = providers::Authentication::Type::bearer;
  more.defaults.authentication.token_env = "OF_THE_FILE";
  ASSERT_TRUE(fixture.load(more));
  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams", at(elsewhere, {})).status, 201);
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
}

class AwayStore final : public store::test::FullStore {
 public:
  Task<Result<std::vector<store::UpstreamRecord>>> upstreams() override {
    if (away) co_return std::unexpected(errors::unavailable("the store is away"));
    co_return co_await FullStore::upstreams();
  }

  std::atomic<bool> away = false;
};

// A limit that the file sets must not depend on the store.
TEST(RegistrationWhileTheStoreIsAway, IsKeptAtAReload) {
  TestUpstream upstream;
  const auto at = [&](std::string_view name, object more = {}) {
    more.emplace("name", name);
    more.emplace("url", upstream.url());
    return entry(std::move(more));
  };
  AwayStore store;
  AdminFixture fixture(store, {.upstreams = {at("a"), at("b")}});
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", {{"name", "made"}, {"url", upstream.url()}}).status, 201);
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", {{"name", "gone"}, {"url", upstream.url()}}).status, 201);
  ASSERT_EQ(fixture.ask("DELETE", "/admin/upstreams/gone").status, 200);
  ASSERT_EQ(fixture.ask("PATCH", "/admin/upstreams/a", {{"timeout", "9s"}}).status, 200);
  ASSERT_EQ(fixture.ask("PATCH", "/admin/upstreams/b", {{"timeout", "9s"}}).status, 200);
  ASSERT_EQ(fixture.ask("PATCH", "/admin/upstreams/made", {{"timeout", "8s"}}).status, 200);

  const AdminFixture::File limited{.upstreams = {at("a"), at("b", {{"enabled", false}}), at("c")}};
  const auto expect_all = [&] {
    EXPECT_EQ(fixture.get("a").at("timeout"), "9s");
    EXPECT_EQ(fixture.get("b").at("origin"), "file") << "the override was for another entry";
    EXPECT_EQ(fixture.get("b").at("enabled"), false);
    EXPECT_EQ(fixture.get("c").at("origin"), "file");
    EXPECT_EQ(fixture.get("made").at("timeout"), "8s");
    EXPECT_EQ(fixture.ask("GET", "/admin/upstreams/gone").status, 404);
  };
  store.away = true;
  EXPECT_FALSE(fixture.load(limited));
  expect_all();
  EXPECT_THAT(fixture.run(store.kept.upstreams()).value(), ::testing::SizeIs(3)) << "nothing is dropped meanwhile";
  store.away = false;
  EXPECT_TRUE(fixture.load(limited));
  expect_all();
  EXPECT_THAT(fixture.run(store.kept.upstreams()).value(), ::testing::SizeIs(2));
}

}  // namespace
}  // namespace proteus::admin
