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
    ASSERT_TRUE(breaker.allows());
    Attempt(breaker).report(Result<int>(std::unexpected(error)));
  };
  for (int i = 0; i < 5; ++i) {
    fail(errors::cancelled("the request"));
    fail(errors::exhausted("too many"));
    fail(errors::forbidden("not for you"));
    fail(errors::unauthenticated("who are you"));
    fail(errors::not_found("nothing here"));
    fail(errors::too_large("the answer", 1));
    ASSERT_TRUE(breaker.allows());
    const Attempt left(breaker);  // ends without a word
  }
  EXPECT_EQ(breaker.state(), State::closed);
  fail(errors::unreachable("refused"));
  fail(errors::timeout("the answer"));
  EXPECT_EQ(breaker.state(), State::open);
}

}  // namespace
}  // namespace proteus::client
