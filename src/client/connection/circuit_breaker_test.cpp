#include "client/connection/circuit_breaker.hpp"

#include <gtest/gtest.h>

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using State = CircuitBreaker::State;

const Error kFault = errors::timeout("the answer");

// REF-18
TEST(CircuitBreaker, OpensAfterFailuresInARowAndLetsOneProbeThrough) {
  ManualClock clock;
  CircuitBreaker breaker(clock, 3, 30s);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(breaker.allows());
    breaker.failed(kFault);
  }
  breaker.succeeded();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(breaker.allows());
    breaker.failed(kFault);
  }
  EXPECT_EQ(breaker.state(), State::open);
  EXPECT_FALSE(breaker.allows());

  clock.advance(30s);
  EXPECT_EQ(breaker.state(), State::half_open);
  EXPECT_TRUE(breaker.allows());
  EXPECT_FALSE(breaker.allows()) << "a second probe";
  breaker.failed(kFault);
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
  breaker.failed(kFault);
  clock.advance(1s);
  EXPECT_TRUE(breaker.allows());
  breaker.abandoned();
  EXPECT_TRUE(breaker.allows());
}

// REF-29
TEST(CircuitBreaker, ProbesNoSoonerThanTheUpstreamAsked) {
  ManualClock clock;
  CircuitBreaker breaker(clock, 1, 10s);
  breaker.failed(errors::unavailable("HTTP 503").with_retry_after(25s));
  clock.advance(24s);
  EXPECT_FALSE(breaker.allows());
  clock.advance(1s);
  EXPECT_TRUE(breaker.allows());

  breaker.failed(errors::unavailable("HTTP 503").with_retry_after(1s));
  clock.advance(9s);
  EXPECT_FALSE(breaker.allows()) << "nor sooner than usual";
}

// REF-33
TEST(CircuitBreaker, KnowsTheLastFailureUntilASuccess) {
  ManualClock clock;
  CircuitBreaker breaker(clock, 5, 10s);
  EXPECT_FALSE(breaker.status().failure);
  breaker.failed(kFault);
  ASSERT_TRUE(breaker.status().failure);
  EXPECT_EQ(breaker.status().failure->message(), kFault.message());
  breaker.succeeded();
  EXPECT_FALSE(breaker.status().failure);
}

}  // namespace
}  // namespace proteus::client
