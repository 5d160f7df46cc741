// Everything that keeps lists fresh, tested for the gateway and for the library (REF-31), in both eras.
#include <gmock/gmock.h>

#include "gateway/testing/freshness_fixture.hpp"

namespace proteus::gateway {
namespace {

using client::Circuit;
using client::ServerState;
using test::GatewayKeeper;
using test::Keeper;
using test::LibraryKeeper;
using test::Shop;
using test::upstream_at;
using test::wait_until;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;

enum class Who : std::uint8_t { library, gateway };

class Freshness : public ::testing::TestWithParam<std::tuple<Who, mcp::Era>> {
 protected:
  std::unique_ptr<Keeper> keep() {
    if (std::get<Who>(GetParam()) == Who::library) return std::make_unique<LibraryKeeper>(settings);
    return std::make_unique<GatewayKeeper>(settings);
  }
  // Turns off announcements, so that only the test causes readings.
  void be_quiet() { settings.event_driven_refresh = false; }

  Shop shop{std::get<mcp::Era>(GetParam())};
  providers::UpstreamSettings settings = [this] {
    auto made = upstream_at("shop", 1);
    made.url = shop.url().text();
    made.prefix = "";
    return made;
  }();
};

std::string name_of(const std::tuple<Who, mcp::Era>& tested) {
  return fmt::format("{}{}", std::get<Who>(tested) == Who::library ? "TheLibrary" : "TheGateway",
                     std::get<mcp::Era>(tested) == mcp::Era::legacy ? "Legacy" : "Modern");
}
INSTANTIATE_TEST_SUITE_P(Of, Freshness,
                         ::testing::Combine(::testing::Values(Who::library, Who::gateway),
                                            ::testing::Values(mcp::Era::legacy, mcp::Era::modern)),
                         [](const auto& tested) { return name_of(tested.param); });

// REF-16
TEST_P(Freshness, ReadsAgainWhenTheServerAnnouncesAChange) {
  const auto keeper = keep();
  wait_until([&] { return shop.streams() > 0; });
  shop.sell({"bread", "milk"});
  shop.announce();
  wait_until([&] { return keeper->tools().size() == 2; });
}

// REF-16, REF-31
TEST_P(Freshness, PollsWhileAnnouncementsAreDown) {
  settings.refresh_interval = 10ms;
  const auto keeper = keep();
  wait_until([&] { return shop.streams() > 0; });
  shop.allow_streams(false);
  shop.drop_streams();
  shop.sell({"bread", "milk"});
  wait_until([&] { return keeper->tools().size() == 2; });
  EXPECT_EQ(keeper->state(), ServerState::connected);

  shop.allow_streams(true);
  wait_until([&] { return shop.streams() > 0; });
  shop.sell({"milk"});
  shop.announce();
  wait_until([&] { return keeper->tools().size() == 1; });
}

// REF-16
TEST_P(Freshness, PollsAndListensAgainWhereTheServerCouldNotAnnounceAtFirst) {
  settings.refresh_interval = 10ms;
  shop.allow_streams(false);
  const auto keeper = keep();
  shop.sell({"bread", "milk"});
  wait_until([&] { return keeper->tools().size() == 2; });
  shop.allow_streams(true);
  wait_until([&] { return shop.streams() > 0; });
}

// REF-05
TEST_P(Freshness, PollsWhereThatIsWanted) {
  be_quiet();
  settings.auto_refresh = true;
  settings.refresh_interval = 10ms;
  const auto keeper = keep();
  shop.sell({"bread", "milk"});
  wait_until([&] { return keeper->tools().size() == 2; });
}

// REF-08, REF-10
TEST_P(Freshness, SaysWhatChangedWhenAsked) {
  be_quiet();
  const auto keeper = keep();
  shop.sell({"milk"});
  EXPECT_THAT(keeper->tools(), ElementsAre("bread")) << "nothing is read by itself";
  const auto changed = keeper->refresh();
  ASSERT_TRUE(changed) << changed.error().message();
  EXPECT_THAT(changed->added, ElementsAre("milk"));
  EXPECT_THAT(changed->removed, ElementsAre("bread"));
  EXPECT_THAT(keeper->tools(), ElementsAre("milk"));
}

// REF-17
TEST_P(Freshness, TheFirstUseAfterTheTimeToLiveReadsAgain) {
  settings.ttl = 1ms;
  const auto keeper = keep();
  shop.sell({"bread", "milk"});
  wait_until([&] { return keeper->tools().size() == 2; });
  shop.close();
  EXPECT_EQ(keeper->tools().size(), 2U) << "where that fails, the old set is served";
}

// REF-17
TEST_P(Freshness, UsesWithinTheTimeToLiveReadNothing) {
  settings.ttl = 1h;
  const auto keeper = keep();
  shop.sell({"bread", "milk"});
  EXPECT_THAT(keeper->tools(), ElementsAre("bread"));
  EXPECT_TRUE(keeper->call("bread"));
  EXPECT_EQ(shop.lists(), 1U);
}

// REF-18
TEST_P(Freshness, ACircuitOpensAfterFailuresInARow) {
  be_quiet();
  settings.circuit_failures = 2;
  settings.circuit_open = 1h;
  const auto keeper = keep();
  shop.fail_calls();
  for (int i = 0; i < 4; ++i)
    EXPECT_FALSE(keeper->call("bread"));
  EXPECT_EQ(shop.calls(), 2U) << "the others are not sent";
  EXPECT_EQ(keeper->circuit(), Circuit::open);
  shop.fail_calls(false);
  ASSERT_TRUE(keeper->refresh());
  EXPECT_EQ(keeper->circuit(), Circuit::open) << "lists that can be read say nothing about calls";
}

// REF-18
TEST_P(Freshness, AnOpenCircuitProbesAfterAWhile) {
  be_quiet();
  settings.circuit_failures = 1;
  settings.circuit_open = 1ms;
  const auto keeper = keep();
  shop.fail_calls();
  EXPECT_FALSE(keeper->call("bread"));
  shop.fail_calls(false);
  wait_until([&] { return keeper->circuit() == Circuit::half_open; });
  EXPECT_TRUE(keeper->call("bread"));
  EXPECT_EQ(keeper->circuit(), Circuit::closed);
}

// REF-31, PRX-06
TEST_P(Freshness, AResultThatSaysSoRefreshesTheLists) {
  be_quiet();
  const auto keeper = keep();
  shop.sell({"bread", "milk"});
  EXPECT_TRUE(keeper->call("bread"));
  EXPECT_EQ(keeper->tools().size(), 1U);
  shop.signal();
  EXPECT_TRUE(keeper->call("bread"));
  EXPECT_EQ(keeper->tools().size(), 2U);
}

// REF-11, REF-27
TEST_P(Freshness, AServerThatFailsIsReadAgainUntilItWorks) {
  be_quiet();
  settings.max_consecutive_failures = 2;
  const auto keeper = keep();
  EXPECT_EQ(keeper->state(), ServerState::connected);
  shop.close();
  EXPECT_FALSE(keeper->refresh());
  EXPECT_NE(keeper->state(), ServerState::connected);
  EXPECT_THAT(keeper->last_error(), Not(IsEmpty()));
  wait_until([&] { return keeper->state() == ServerState::failed; });
  EXPECT_THAT(keeper->tools(), ElementsAre("bread")) << "what it had is still there";
  shop.sell({"milk"});
  shop.close(false);
  wait_until([&] { return keeper->state() == ServerState::connected; });
  EXPECT_THAT(keeper->last_error(), IsEmpty());
  EXPECT_THAT(keeper->tools(), ElementsAre("milk"));
}

client::test::FakeResponse unknown_method(const test::FakeRequest& request) {
  return client::test::rpc_error(request, -32601, "Method not found");
}
client::test::FakeResponse no_list(const test::FakeRequest& request) {
  return client::test::result(request, R"({"resources":"none"})");
}

// REF-34
TEST_P(Freshness, AListThatIsDeclaredAndNotImplementedCostsNoOther) {
  shop.react("resources/list", unknown_method);
  settings.fail_fast_on_startup = true;
  const auto keeper = keep();
  EXPECT_THAT(keeper->tools(), ElementsAre("bread"));
  EXPECT_THAT(*keeper->resources(), IsEmpty());
  EXPECT_EQ(keeper->state(), ServerState::connected);
  EXPECT_TRUE(keeper->refresh());
}

// REF-34, REF-11
TEST_P(Freshness, AListThatCannotBeReadStaysAsItWasAndTheOthersAreRead) {
  be_quiet();
  const auto keeper = keep();
  shop.react("resources/list", no_list);
  shop.sell({"milk"});
  const auto refreshed = keeper->refresh();
  ASSERT_FALSE(refreshed);
  EXPECT_THAT(refreshed.error().message(), HasSubstr("resources/list"));
  EXPECT_THAT(keeper->tools(), ElementsAre("milk"));
  EXPECT_THAT(*keeper->resources(), ElementsAre("test://till"));
  EXPECT_EQ(keeper->state(), ServerState::degraded);
  EXPECT_THAT(keeper->last_error(), HasSubstr("resources/list"));
  shop.react("resources/list", [](const test::FakeRequest& request) {
    return client::test::result(request, R"({"resources":[{"uri":"test://desk","name":"desk"}]})");
  });
  wait_until([&] { return keeper->state() == ServerState::connected; });
  EXPECT_THAT(*keeper->resources(), ElementsAre("test://desk")) << "it was asked for again";
}

// REF-34
TEST_P(Freshness, AServerWithOneListThatCannotBeReadIsThereAtTheStart) {
  shop.react("resources/list", no_list);
  settings.fail_fast_on_startup = true;
  const auto keeper = keep();
  EXPECT_THAT(keeper->tools(), ElementsAre("bread"));
  EXPECT_EQ(keeper->state(), ServerState::degraded);
  if (std::get<Who>(GetParam()) == Who::library)
    EXPECT_FALSE(keeper->resources()) << "what was never read is not empty";
}

// REF-03
TEST_P(Freshness, AServerThatIsNotThereAtTheStartIsTakenInWhenItComes) {
  shop.close();
  const auto keeper = keep();
  EXPECT_NE(keeper->state(), ServerState::connected);
  EXPECT_THAT(keeper->tools(), IsEmpty());
  shop.close(false);
  wait_until([&] { return !keeper->tools().empty(); });
  wait_until([&] { return keeper->state() == ServerState::connected; });
}

}  // namespace
}  // namespace proteus::gateway
