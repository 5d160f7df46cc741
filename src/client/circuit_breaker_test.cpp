#include "client/circuit_breaker.hpp"

#include <gtest/gtest.h>

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using State = CircuitBreaker::State;

// REF-18
TEST(CircuitBreaker, OpensAfterFailuresInARowAndLetsOneProbeThrough) {
  ManualClock clock;
  CircuitBreaker breaker(clock, 3, 30s);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(breaker.allows());
    breaker.failed();
  }
  breaker.succeeded();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(breaker.allows());
    breaker.failed();
  }
  EXPECT_EQ(breaker.state(), State::open);
  EXPECT_FALSE(breaker.allows());

  clock.advance(30s);
  EXPECT_EQ(breaker.state(), State::half_open);
  EXPECT_TRUE(breaker.allows());
  EXPECT_FALSE(breaker.allows()) << "a second probe";
  breaker.failed();
  EXPECT_FALSE(breaker.allows());

  clock.advance(30s);
  EXPECT_TRUE(breaker.allows());
  breaker.succeeded();
  EXPECT_EQ(breaker.state(), State::closed);
  EXPECT_TRUE(breaker.allows());
}

TEST(CircuitBreaker, GivesTheProbeBackThatSaidNothing) {
  ManualClock clock;
  CircuitBreaker breaker(clock, 1, 1s);
  breaker.failed();
  clock.advance(1s);
  EXPECT_TRUE(breaker.allows());
  breaker.abandoned();
  EXPECT_TRUE(breaker.allows());
}

}  // namespace
}  // namespace proteus::client
