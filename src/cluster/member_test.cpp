#include "cluster/member.hpp"

#include <algorithm>
#include <variant>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "store/memory_store.hpp"
#include "store/testing/full_store.hpp"

namespace proteus::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A process. All of them share one thread.
class Process {
 public:
  Process(boost::asio::io_context& io, store::Store& store, std::string name,
          std::chrono::milliseconds blind_after = 1min)
      : io_(io),
        member(io, store, clock_,
               {.name = std::move(name),
                .facts = "{}",
                .attend_every = 2ms,
                .patience = 10s,
                .settle = 50ms,
                .blind_after = blind_after}) {
    test::run(io_, member.join()).value();
    member.start([this](const Member::Changed* changed) { return apply(changed); }, [this](bool now) { blind = now; });
  }
  ~Process() { test::run(io_, leave()); }

  std::vector<std::string> applied;
  bool refuses = false;
  bool blind = false;

 private:
  Task<Result<>> apply(const Member::Changed* changed) {
    if (refuses) co_return std::unexpected(errors::exhausted("not now"));
    if (changed == nullptr) applied.emplace_back("everything");
    for (const auto& entry : changed == nullptr ? Member::Changed() : *changed)
      applied.push_back(entry.key.name);
    co_return Result<>{};
  }
  Task<bool> leave() {
    co_await member.leave();
    co_return true;
  }

  boost::asio::io_context& io_;
  SystemClock clock_;

 public:
  Member member;
};

Task<Result<>> nothing() { co_return Result<>{}; }

Task<Result<>> write_more(store::Store& store) {
  (void)co_await store.put(store::Setting{.key = "more", .value = "x"});
  co_return Result<>{};
}

Task<Result<>> wait_until(const bool& go_on) {
  while (!go_on)
    co_await boost::asio::post(co_await boost::asio::this_coro::executor, boost::asio::use_awaitable);
  co_return Result<>{};
}

class CountingStore final : public store::test::FullStore {
 public:
  Task<Result<store::Written>> write(store::Writes writes) override {
    heartbeats +=
        std::ranges::count_if(writes, [](const auto& one) { return std::holds_alternative<store::Attend>(one); });
    return FullStore::write(std::move(writes));
  }

  std::ptrdiff_t heartbeats = 0;
};

class MemberTest : public ::testing::Test {
 protected:
  void put(const std::string& key) { test::run(io, store.put(store::Setting{.key = key, .value = "x"})).value(); }
  Member::Settled settle(Process& process) { return test::run(io, process.member.settle()).value(); }

  boost::asio::io_context io;
  store::MemoryStore store{store::Retention{.feed = 4}};
};

// REP-02
TEST_F(MemberTest, AppliesWhatAnybodyWritesInItsOrder) {
  put("before");
  Process a(io, store, "a");
  Process b(io, store, "b");
  put("one");
  put("two");
  const auto settled = settle(a);
  EXPECT_EQ(settled.live, 2U);
  EXPECT_TRUE(settled.all());
  EXPECT_THAT(a.applied, ElementsAre("one", "two"));
  EXPECT_THAT(b.applied, ElementsAre("one", "two"));
}

// REP-02
TEST_F(MemberTest, SaysWhoHasNotAppliedItYet) {
  Process a(io, store, "a");
  Process b(io, store, "b");
  b.refuses = true;
  put("one");
  const auto settled = settle(a);
  EXPECT_EQ(settled.applied, 1U);
  EXPECT_EQ(settled.live, 2U);
  b.refuses = false;
  EXPECT_TRUE(settle(a).all());
  EXPECT_THAT(b.applied, ElementsAre("one"));
}

TEST_F(MemberTest, ReadsEverythingWhereItMissedTooMuch) {
  Process a(io, store, "a");
  a.refuses = true;
  for (int i = 0; i < 10; ++i)
    put(std::to_string(i));
  a.refuses = false;
  EXPECT_TRUE(settle(a).all());
  EXPECT_THAT(a.applied, ElementsAre("everything"));
}

// REP-06
TEST_F(MemberTest, KnowsWhenItMayHaveMissedChangesForTooLong) {
  Process a(io, store, "a", 20ms);
  a.refuses = true;
  put("revoked");
  test::run_until(io, [&] { return a.blind; });
  EXPECT_THAT(a.applied, IsEmpty());
  a.refuses = false;
  test::run_until(io, [&] { return !a.blind; });
  EXPECT_THAT(a.applied, ElementsAre("revoked"));
}

// REP-12
TEST_F(MemberTest, KnowsWhenOthersMayHaveTakenItForDead) {
  ManualClock clock;
  Member member(io, store, clock, {.name = "a", .facts = "{}", .attend_every = 2ms, .patience = 3s});
  ASSERT_TRUE(test::run(io, member.join()));
  EXPECT_FALSE(member.is_in_doubt());
  clock.advance(3s);
  EXPECT_TRUE(member.is_in_doubt());
  const auto last_seen = [&] { return test::run(io, store.members()).value().at(0).unseen; };
  member.start([](const Member::Changed*) { return nothing(); }, [](bool) {});
  // It has written a heartbeat, but another process may have read before that it is dead.
  put("one more");
  test::run_until(io, [&] { return member.applied() == 1; });
  EXPECT_LT(last_seen(), 3s);
  EXPECT_TRUE(member.is_in_doubt());
  clock.advance(2s);
  EXPECT_TRUE(member.is_in_doubt());
  test::run_until(io, [&] {
    if (!member.is_in_doubt()) return true;
    clock.advance(10ms);
    return false;
  });
  test::run(io, member.leave());
}

// REP-10
TEST_F(MemberTest, SaysThatItLivesHoweverMuchThereIsToFollow) {
  ManualClock clock;
  Member member(io, store, clock, {.name = "a", .facts = "{}", .attend_every = 1s, .patience = 3s});
  ASSERT_TRUE(test::run(io, member.join()));
  int rounds = 0;
  put("first");
  member.start(
      [&](const Member::Changed*) {
        clock.advance(1s);
        return ++rounds < 10 ? write_more(store) : nothing();
      },
      [](bool) {});
  test::run_until(io, [&] { return rounds == 10; });
  EXPECT_FALSE(member.is_in_doubt());
  test::run(io, member.leave());
}

// REP-10
TEST_F(MemberTest, SaysThatItLivesWhileItAppliesOneChangeForLong) {
  CountingStore counting;
  SystemClock clock;
  Member member(io, counting, clock, {.name = "a", .facts = "{}", .attend_every = 2ms});
  ASSERT_TRUE(test::run(io, member.join()));
  const auto joined = member.applied();
  test::run(io, counting.put(store::Setting{.key = "one", .value = "x"})).value();
  bool begun = false;
  bool go_on = false;
  member.start(
      [&](const Member::Changed*) {
        begun = true;
        return wait_until(go_on);
      },
      [](bool) {});
  test::run_until(io, [&] { return begun; });
  const auto before = counting.heartbeats;
  test::run_until(io, [&] { return counting.heartbeats >= before + 3; });
  EXPECT_EQ(member.applied(), joined);
  go_on = true;
  test::run_until(io, [&] { return member.applied() > joined; });
  test::run(io, member.leave());
}

// REP-02: however many wait at once, each learns about its own change.
TEST_F(MemberTest, LetsManyWaitAtOnce) {
  using Call = test::Started<Result<Settled>>;
  Process a(io, store, "a");
  Process b(io, store, "b");
  b.refuses = true;
  put("one");
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 100; ++i)
    calls.push_back(std::make_unique<Call>(io, a.member.settle()));
  test::run_until(io, [&] { return !a.applied.empty(); });
  b.refuses = false;
  for (auto& call : calls)
    EXPECT_TRUE(call->finish().value().all());
  EXPECT_THAT(b.applied, ElementsAre("one"));
}

// REP-01
TEST_F(MemberTest, TellsOthersWhatItIsLikeNow) {
  Process a(io, store, "a");
  a.member.set_facts(R"({"configuration":"another"})");
  const auto told = [&] {
    const auto members = test::run(io, store.members()).value();
    return members.size() == 1 && members.front().facts == R"({"configuration":"another"})";
  };
  for (int i = 0; i < 100 && !told(); ++i) {
    put("x");
    settle(a);
  }
  EXPECT_TRUE(told());
}

TEST_F(MemberTest, IsNotCountedWhenItHasLeft) {
  Process a(io, store, "a");
  {
    Process b(io, store, "b");
  }
  EXPECT_EQ(settle(a).live, 1U);
}

}  // namespace
}  // namespace proteus::cluster
