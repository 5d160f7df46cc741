#include "gateway/sign_in/attempts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

using namespace std::chrono_literals;

// UPC-06: what failed a minute ago keeps nobody out, however many they were.
TEST(Attempts, AreForgottenAfterAMinuteAlsoWhereTheyAreMany) {
  Attempts attempts;
  const Clock::Monotonic start{};
  for (std::size_t i = 0; i < Attempts::kMost; ++i)
    attempts.failed(fmt::format("address {}", i), start);
  EXPECT_FALSE(attempts.may_try("somebody else", start));
  EXPECT_TRUE(attempts.may_try("address 1", start));
  EXPECT_TRUE(attempts.may_try("somebody else", start + 1min));
}

TEST(Attempts, AreSoManyAMinute) {
  Attempts attempts;
  const Clock::Monotonic start{};
  for (unsigned i = 0; i < Attempts::kPerMinute; ++i)
    attempts.failed("here", start);
  EXPECT_FALSE(attempts.may_try("here", start + 59s));
  EXPECT_TRUE(attempts.may_try("there", start));
  EXPECT_TRUE(attempts.may_try("here", start + 1min));
  attempts.succeeded("here");
  EXPECT_TRUE(attempts.may_try("here", start));
}

}  // namespace
}  // namespace proteus::gateway
