#include "auth/issuers/kept_by_token.hpp"

#include <gtest/gtest.h>

#include "auth/issuers/proof_memory.hpp"

namespace proteus::auth {
namespace {

using namespace std::chrono_literals;

json::Digest token(int number) { return json::sha256(std::to_string(number)); }

// OAU-17
TEST(KeptByToken, FindsWhatWasKeptUntilItEnds) {
  ManualClock clock;
  KeptByToken<int> kept(10);
  kept.keep(token(1), 1, clock.wall() + 60s, clock.wall());
  kept.keep(token(2), 2, clock.wall(), clock.wall());
  ASSERT_NE(kept.find(token(1), clock.wall()), nullptr);
  EXPECT_EQ(*kept.find(token(1), clock.wall()), 1);
  EXPECT_EQ(kept.find(token(2), clock.wall()), nullptr) << "it had ended";
  clock.advance(60s);
  EXPECT_EQ(kept.find(token(1), clock.wall()), nullptr);
  EXPECT_EQ(kept.size(), 0U);
}

TEST(KeptByToken, DropsWhatWasNotUsedForLongestWhereItIsFull) {
  ManualClock clock;
  KeptByToken<int> kept(3);
  for (int i = 0; i < 3; ++i)
    kept.keep(token(i), i, clock.wall() + 1h, clock.wall());
  EXPECT_NE(kept.find(token(0), clock.wall()), nullptr);
  kept.keep(token(3), 3, clock.wall() + 1h, clock.wall());
  EXPECT_EQ(kept.find(token(1), clock.wall()), nullptr);
  EXPECT_NE(kept.find(token(0), clock.wall()), nullptr);
  EXPECT_EQ(kept.size(), 3U);
}

// OAU-09
TEST(KeptByToken, GivesBackWhatIsIdleOrTakenAway) {
  ManualClock clock;
  KeptByToken<int> kept(100'000, 10min);
  for (int i = 0; i < 1000; ++i)
    kept.keep(token(i), i, clock.wall() + (i < 500 ? 1min : 1h), clock.wall());
  clock.advance(1min);
  kept.sweep(clock.wall());
  EXPECT_EQ(kept.size(), 500U);
  kept.forget(token(501));
  EXPECT_EQ(kept.find(token(501), clock.wall()), nullptr);
  clock.advance(9min);
  EXPECT_EQ(*kept.find(token(503), clock.wall()), 503);
  kept.sweep(clock.wall());
  EXPECT_EQ(kept.size(), 1U) << "the others were idle";
}

// OAU-11
TEST(ProofMemory, RefusesAProofThatWasUsed) {
  ManualClock clock;
  ProofMemory memory(100);
  EXPECT_TRUE(memory.use({"key", "1"}, clock.now()));
  EXPECT_TRUE(memory.use({"other", "1"}, clock.now())) << "an id is of its key";
  EXPECT_TRUE(memory.use({"key", "2"}, clock.now()));
  clock.advance(120s);
  const auto again = memory.use({"key", "1"}, clock.now());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind(), ErrorKind::conflict);
  clock.advance(1s);
  EXPECT_TRUE(memory.use({"key", "1"}, clock.now())) << "it is too old by then";
  EXPECT_EQ(memory.size(), 1U);
}

// OAU-11
TEST(ProofMemory, RefusesWhereItIsFull) {
  ManualClock clock;
  ProofMemory memory(100);
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(memory.use({std::to_string(i), "1"}, clock.now()));
  const auto more = memory.use({"key", "100"}, clock.now());
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().kind(), ErrorKind::exhausted);
  clock.advance(121s);
  EXPECT_TRUE(memory.use({"key", "100"}, clock.now()));
}

TEST(ProofMemory, LeavesRoomForOtherKeys) {
  ManualClock clock;
  ProofMemory memory(80);
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(memory.use({"greedy", std::to_string(i)}, clock.now()));
  const auto more = memory.use({"greedy", "10"}, clock.now());
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().kind(), ErrorKind::exhausted);
  EXPECT_TRUE(memory.use({"other", "1"}, clock.now()));
  clock.advance(121s);
  EXPECT_TRUE(memory.use({"greedy", "10"}, clock.now()));
}

}  // namespace
}  // namespace proteus::auth
