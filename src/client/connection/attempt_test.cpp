#include "client/connection/attempt.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace proteus::client {
namespace {

using State = CircuitBreaker::State;

// REF-18
TEST(Attempt, OnlyTheUpstreamsOwnFailuresOpenTheCircuit) {
  ManualClock clock;
  CircuitBreaker breaker(clock, 2, std::chrono::seconds(30));
  const auto fail = [&](const Error& error) {
    Attempt attempt(breaker);
    ASSERT_TRUE(attempt.may_be_sent());
    attempt.report(Result<int>(std::unexpected(error)));
  };
  for (int i = 0; i < 5; ++i) {
    fail(errors::cancelled("the request"));
    fail(errors::exhausted("too many"));
    fail(errors::forbidden("not for you"));
    fail(errors::unauthenticated("who are you"));
    fail(errors::not_found("nothing here"));
    fail(errors::too_large("the answer", 1));
    const Attempt left(breaker);  // destroyed without a report
    ASSERT_TRUE(left.may_be_sent());
  }
  EXPECT_EQ(breaker.state(), State::closed);
  fail(errors::unreachable("refused"));
  fail(errors::timeout("the answer"));
  EXPECT_EQ(breaker.state(), State::open);
}

}  // namespace
}  // namespace proteus::client
