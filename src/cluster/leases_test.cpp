#include "cluster/leases.hpp"

#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "store/memory_store.hpp"
#include "store/testing/sqlite_fixture.hpp"

namespace proteus::cluster {
namespace {

using namespace std::chrono_literals;

const std::set<std::string> kFour = {"a", "b", "c", "d"};

// A process that looks only when `look` is called.
class Holder {
 public:
  Holder(boost::asio::io_context& io, store::Store& store, std::string name, std::chrono::milliseconds patience = 1h,
         std::chrono::milliseconds forget = 24h)
      : io_(io),
        member_(io, store, clock_,
                {.name = std::move(name), .facts = "{}", .attend_every = 0ms, .patience = patience, .forget = forget}),
        leases(io, store, member_) {
    attend();
  }

  void attend() { test::run(io_, member_.join()).value(); }
  void look(const std::set<std::string>& wanted = kFour) {
    attend();
    test::run(io_, look_once(wanted));
  }
  boost::asio::io_context& io_;
  SystemClock clock_;
  Member member_;
  Leases leases;

 private:
  Task<bool> look_once(std::set<std::string> wanted) {
    co_await leases.want(std::move(wanted));
    co_return true;
  }
};

class LeasesTest : public ::testing::Test {
 protected:
  boost::asio::io_context io;
  store::MemoryStore store;
};

// REP-04
TEST_F(LeasesTest, AreSpreadOverProcesses) {
  Holder one(io, store, "one");
  one.look();
  EXPECT_EQ(one.leases.size(), 4U);
  Holder two(io, store, "two");
  one.look();
  two.look();
  EXPECT_EQ(one.leases.size(), 2U);
  EXPECT_EQ(two.leases.size(), 2U);
  for (const auto& name : kFour)
    EXPECT_NE(one.leases.holds(name), two.leases.holds(name)) << name;
}

// REP-04
TEST_F(LeasesTest, OfAProcessThatDiedAreTaken) {
  Holder one(io, store, "one");
  one.look();
  EXPECT_EQ(one.leases.size(), 4U);
  // This process counts the first one as dead.
  Holder two(io, store, "two", 0ms);
  two.look();
  EXPECT_EQ(two.leases.size(), 4U);
}

// REP-04: the check is in the write.
TEST_F(LeasesTest, ThatWereLostStoreNothing) {
  Holder one(io, store, "one");
  Holder two(io, store, "two");
  one.look({"upstream x"});
  const auto fence = one.leases.fence("upstream x");
  ASSERT_TRUE(fence);
  ASSERT_TRUE(test::run(io, two.leases.take("upstream x")));
  const store::SnapshotRecord listed{
      .upstream = "x", .kind = "tools", .entries = "[]", .era = {}, .protocol_version = {}, .server_facts = {}};
  store::Writes stale;
  stale.emplace_back(store::PutSnapshot{listed, fence});
  EXPECT_EQ(test::run(io, store.write(std::move(stale))).error().kind(), ErrorKind::conflict);
  store::Writes fresh;
  fresh.emplace_back(store::PutSnapshot{listed, two.leases.fence("upstream x")});
  EXPECT_TRUE(test::run(io, store.write(std::move(fresh))));
  one.look({"upstream x"});
  EXPECT_FALSE(one.leases.holds("upstream x"));
}

// REP-01
TEST_F(LeasesTest, ShowWhoIsThere) {
  Holder one(io, store, "one");
  Holder two(io, store, "two");
  std::vector<std::string> seen;
  one.leases.add_on_members([&](const std::vector<store::MemberRecord>& members) {
    seen.clear();
    for (const auto& member : members)
      seen.push_back(member.name);
  });
  one.look();
  EXPECT_THAT(seen, ::testing::ElementsAre("one", "two"));
}

// REP-17
TEST_F(LeasesTest, ForgetWhoHasBeenDeadForLong) {
  Holder one(io, store, "one");
  Holder two(io, store, "two");
  two.look();
  EXPECT_EQ(test::run(io, store.members()).value().size(), 2U);
  Holder late(io, store, "late", 0ms, 0ms);
  late.look();
  const auto left = test::run(io, store.members()).value();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front().name, "late");
}

// Not every process has the same configuration.
TEST_F(LeasesTest, ThatNobodyElseWantsAreTakenWhateverTheShare) {
  Holder one(io, store, "one");
  Holder two(io, store, "two");
  two.look({});
  one.look();
  EXPECT_EQ(one.leases.size(), 2U);
  for (int i = 0; i < 3; ++i) {
    one.look();
    EXPECT_EQ(one.leases.size(), 4U);
  }
}

// A store that is asked on another thread.
TEST(LeasesOfASlowStore, ThatAreWantedDuringALookAreTakenRightAfterIt) {
  boost::asio::io_context io;
  store::test::SqliteFixture fixture;
  fixture.reopen();
  Holder one(io, fixture.store(), "one");
  bool is_first = true;
  // Runs while the store takes the free leases of those that were wanted before.
  const auto want_more = [&] { boost::asio::co_spawn(io, one.leases.want({"a", "b"}), boost::asio::detached); };
  one.leases.add_on_members([&](const std::vector<store::MemberRecord>&) {
    if (std::exchange(is_first, false)) boost::asio::post(io, want_more);
  });
  one.look({"a"});
  test::run_until(io, [&] { return one.leases.holds("b"); });
  EXPECT_TRUE(one.leases.holds("a"));
}

}  // namespace
}  // namespace proteus::cluster
