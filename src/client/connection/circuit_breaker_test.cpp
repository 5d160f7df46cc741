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
    EXPECT_TRUE(breaker.admit());
    breaker.failed(kFault);
  }
  breaker.succeeded();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(breaker.admit());
    breaker.failed(kFault);
  }
  EXPECT_EQ(breaker.state(), State::open);
  EXPECT_FALSE(breaker.admit());

  clock.advance(30s);
  EXPECT_EQ(breaker.state(), State::half_open);
  const auto probe = breaker.admit();
  ASSERT_TRUE(probe);
  EXPECT_FALSE(breaker.admit()) << "a second probe";
  breaker.failed(kFault, *probe);
  EXPECT_FALSE(breaker.admit());

  clock.advance(30s);
  EXPECT_TRUE(breaker.admit());
  breaker.succeeded();
  EXPECT_EQ(breaker.state(), State::closed);
  EXPECT_TRUE(breaker.admit());
}

TEST(CircuitBreaker, GivesTheProbeBackThatSaidNothing) {
  ManualClock clock;
  CircuitBreaker breaker(clock, 1, 1s);
  breaker.failed(kFault);
  clock.advance(1s);
  const auto probe = breaker.admit();
  ASSERT_TRUE(probe);
  breaker.abandoned(*probe);
  EXPECT_TRUE(breaker.admit());
}

// REF-18
TEST(CircuitBreaker, TakesNoRequestFromBeforeForTheProbe) {
  ManualClock clock;
  CircuitBreaker breaker(clock, 1, 1s);
  const auto early = breaker.admit();
  const auto late = breaker.admit();
  breaker.failed(kFault);
  clock.advance(1s);
  ASSERT_TRUE(breaker.admit());
  breaker.abandoned(*early);
  EXPECT_FALSE(breaker.admit()) << "the probe is still under way";
  breaker.failed(kFault, *late);
  clock.advance(1s);
  EXPECT_FALSE(breaker.admit()) << "the probe is still under way";
}

// REF-29
TEST(CircuitBreaker, ProbesNoSoonerThanTheUpstreamAsked) {
  ManualClock clock;
  CircuitBreaker breaker(clock, 1, 10s);
  breaker.failed(errors::unavailable("HTTP 503").with_retry_after(25s));
  clock.advance(24s);
  EXPECT_FALSE(breaker.admit());
  clock.advance(1s);
  const auto probe = breaker.admit();
  ASSERT_TRUE(probe);

  breaker.failed(errors::unavailable("HTTP 503").with_retry_after(1s), *probe);
  clock.advance(9s);
  EXPECT_FALSE(breaker.admit()) << "nor sooner than usual";
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
