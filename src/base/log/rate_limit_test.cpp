#include "base/log/rate_limit.hpp"

#include <gtest/gtest.h>

namespace proteus {
namespace {

using namespace std::chrono_literals;

// SEC-07
TEST(RateLimit, LetsSoManyThroughAtOnceAndThenAsTheyComeBack) {
  ManualClock clock;
  RateLimit limit(6);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(limit.take(clock.now()), 0ns) << i;
  EXPECT_EQ(limit.take(clock.now()), 10s);
  EXPECT_EQ(limit.take(clock.now()), 10s);
  clock.advance(9s);
  EXPECT_EQ(limit.take(clock.now()), 1s);
  clock.advance(1s);
  EXPECT_EQ(limit.take(clock.now()), 0ns);
  EXPECT_EQ(limit.take(clock.now()), 10s);
  clock.advance(1h);
  EXPECT_TRUE(limit.is_unused(clock.now()));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(limit.take(clock.now()), 0ns) << i;
  EXPECT_NE(limit.take(clock.now()), 0ns);
}

TEST(RateLimit, ZeroIsNoLimit) {
  ManualClock clock;
  RateLimit limit(0);
  for (int i = 0; i < 10'000; ++i)
    ASSERT_EQ(limit.take(clock.now()), 0ns);
}

}  // namespace
}  // namespace proteus
