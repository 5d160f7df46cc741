#include "gateway/sign_in/attempts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

using namespace std::chrono_literals;

// UPC-06: failures lock out nobody else, however many there are.
TEST(Attempts, LockOutNobodyElseHoweverManyThereAre) {
  Attempts attempts;
  const Clock::Monotonic start{};
  for (std::size_t i = 0; i < 2 * Attempts::kMost; ++i)
    attempts.failed(fmt::format("address {}", i), start);
  for (unsigned i = 0; i < Attempts::kPerMinute; ++i) {
    EXPECT_TRUE(attempts.may_try("somebody else", start));
    attempts.failed("somebody else", start);
  }
  EXPECT_FALSE(attempts.may_try("somebody else", start));
}

// UPC-06: one household or server has 2^64 addresses.
TEST(Attempts, AreCountedByNetwork) {
  EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), network_of("2001:db8:1:2::1"));
  EXPECT_NE(network_of("2001:db8:1:2::1"), network_of("2001:db8:1:3::1"));
  EXPECT_EQ(network_of("192.0.2.1"), "192.0.2.1");
  EXPECT_NE(network_of("::ffff:192.0.2.1"), network_of("::ffff:192.0.2.2"));
  EXPECT_EQ(network_of("unknown"), "unknown");
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
