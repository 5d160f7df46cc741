#include <gmock/gmock.h>

#include "store/testing/store_contract.hpp"

// Tests which of several processes does what only one may do.
namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr std::chrono::hours kLong{1};
constexpr std::chrono::microseconds kNone{0};

MemberRecord member(std::string name) {
  return {.name = std::move(name), .facts = R"({"version":"1"})", .applied = 7, .unseen = {}};
}

// REP-17
TEST_P(StoreContract, KnowsTheProcessesThatShareIt) {
  get(store().write({Attend{member("b")}, Attend{member("a")}}));
  const auto all = get(other().members());
  ASSERT_THAT(all, ElementsAre(Field(&MemberRecord::name, "a"), Field(&MemberRecord::name, "b")));
  EXPECT_EQ(all[0].facts, R"({"version":"1"})");
  EXPECT_EQ(all[0].applied, 7U);
  EXPECT_LT(all[0].unseen, kLong);
  get(store().write({Leave{"a"}, Leave{"unknown"}}));
  EXPECT_THAT(get(store().members()), ElementsAre(Field(&MemberRecord::name, "b")));
}

// REP-04
TEST_P(StoreContract, GivesALeaseToOneProcessAtATime) {
  get(store().write({Attend{member("a")}, Attend{member("b")}}));
  const auto first = get(store().write({TakeLeases{"a", {"x", "y"}, kLong}})).leases;
  ASSERT_THAT(first, ElementsAre(Field(&LeaseRecord::name, "x"), Field(&LeaseRecord::name, "y")));
  EXPECT_THAT(get(other().write({TakeLeases{"b", {"y", "z"}, kLong}})).leases,
              ElementsAre(Field(&LeaseRecord::name, "z")));
  // A process keeps the leases that it has, with their tokens.
  EXPECT_EQ(get(store().write({TakeLeases{"a", {"x", "y"}, kLong}})).leases, first);
  EXPECT_THAT(get(other().leases()), ElementsAre(Field(&LeaseRecord::owner, "a"), Field(&LeaseRecord::owner, "a"),
                                                 Field(&LeaseRecord::owner, "b")));
}

// REP-04
TEST_P(StoreContract, GivesALeaseToAnotherWhenItsOwnerIsUnseen) {
  get(store().write({Attend{member("a")}, Attend{member("b")}}));
  const auto of_a = get(store().write({TakeLeases{"a", {"x"}, kLong}})).leases.at(0);
  const auto of_b = get(other().write({TakeLeases{"b", {"x"}, kNone}})).leases.at(0);
  EXPECT_EQ(of_b.owner, "b");
  EXPECT_GT(of_b.token, of_a.token);
  // A lease is free at once if its owner never attended, or has left.
  get(store().write({TakeLeases{"stranger", {"s"}, kLong}}));
  EXPECT_THAT(get(store().write({TakeLeases{"a", {"s"}, kLong}})).leases, ElementsAre(Field(&LeaseRecord::owner, "a")));
  get(other().write({Leave{"b"}}));
  const auto again = get(store().write({TakeLeases{"a", {"x"}, kLong}})).leases.at(0);
  EXPECT_GT(again.token, of_b.token);
  get(store().write({ReleaseLeases{"b", {"x"}}}));
  EXPECT_THAT(get(store().leases()), testing::SizeIs(2));
  get(store().write({ReleaseLeases{"a", {"x", "s"}}}));
  EXPECT_THAT(get(store().leases()), IsEmpty());
  EXPECT_GT(get(store().write({TakeLeases{"a", {"x"}, kLong}})).leases.at(0).token, again.token);
}

// REP-04
TEST_P(StoreContract, StoresNothingForAProcessThatHasLostItsLease) {
  get(store().write({Attend{member("a")}, Attend{member("b")}}));
  const auto of_a = get(store().write({TakeLeases{"a", {"x"}, kLong}})).leases.at(0);
  get(store().write({PutSnapshot{snapshot("bank", "tools", "[1]"), Fence{"x", of_a.token}}}));
  const auto of_b = get(other().write({TakeLeases{"b", {"x"}, kNone}})).leases.at(0);
  get(other().write({PutSnapshot{snapshot("bank", "tools", "[2]"), Fence{"x", of_b.token}}}));
  const auto late = run(
      store().write({AppendAudit{audit("read")}, PutSnapshot{snapshot("bank", "tools", "[3]"), Fence{"x", of_a.token}},
                     AppendChange{change("bank")}}));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind(), ErrorKind::conflict);
  EXPECT_THAT(get(store().snapshots()), ElementsAre(snapshot("bank", "tools", "[2]")));
  EXPECT_THAT(get(store().audits(10, std::nullopt)), IsEmpty());
  EXPECT_EQ(get(store().changes(0, 10)).newest, 0U);
  const SealedRecord grant{.kind = "grant", .id = "g", .text = "{}", .updated_at = at(1), .fault = {}};
  EXPECT_FALSE(run(store().write({PutSealed{grant, Fence{"x", of_a.token}}})));
  EXPECT_FALSE(run(store().write({PutSealed{grant, Fence{"unknown", 1}}})));
  EXPECT_TRUE(run(store().write({PutSealed{grant, Fence{"x", of_b.token}}})));
  EXPECT_THAT(get(store().sealed("grant")), ElementsAre(grant));
}

TEST_P(StoreContract, RefusesNamelessProcessesAndLeases) {
  EXPECT_FALSE(run(store().write({Attend{member("")}})));
  EXPECT_FALSE(run(store().write({TakeLeases{"a", {""}, kNone}})));
  EXPECT_FALSE(run(store().write({TakeLeases{"a", std::vector<std::string>(limits::kLeases + 1, "x"), kNone}})));
  EXPECT_THAT(get(store().leases()), IsEmpty());
}

}  // namespace
}  // namespace proteus::store::test
