#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace proteus {
namespace {

using namespace std::chrono_literals;

void let_pass(const Clock& clock, std::chrono::nanoseconds time) {
  const auto until = clock.now() + time;
  while (clock.now() < until) {
  }
}

TEST(SystemClock, SaysWhenItWasAFewMillisecondsAgoAtMost) {
  const SystemClock clock;
  const auto before = clock.now();
  EXPECT_LE(clock.recent(), clock.now());
  EXPECT_GE(clock.recent(), before - 20ms);
}

TEST(SystemClock, StandsStillForATurn) {
  const SystemClock clock;
  auto began = Clock::Monotonic();
  {
    const SystemClock::Turn turn;
    began = clock.recent();
    let_pass(clock, 30ms);
    EXPECT_EQ(clock.recent(), began);
    {
      const SystemClock::Turn inner;
      EXPECT_GT(clock.recent(), began);
    }
    EXPECT_EQ(clock.recent(), began);
  }
  EXPECT_GT(clock.recent(), began);
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock;
  const auto before = clock.now();
  EXPECT_EQ(clock.now(), before);
  clock.advance(std::chrono::seconds(5));
  EXPECT_EQ(clock.now() - before, std::chrono::seconds(5));
}

}  // namespace
}  // namespace proteus
