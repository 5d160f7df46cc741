#include "base/text/ascii.hpp"

#include <gtest/gtest.h>

namespace proteus {
namespace {

TEST(Ascii, TrimsBothEnds) {
  EXPECT_EQ(trimmed(" \ta b ", " \t"), "a b");
  EXPECT_EQ(trimmed("  ", " "), "");
  EXPECT_EQ(trimmed("", " "), "");
}

TEST(Ascii, IgnoresTheCaseOfLettersOnly) {
  EXPECT_TRUE(same_ignoring_case("LocalHost:80", "localhost:80"));
  EXPECT_FALSE(same_ignoring_case("[::1]", "{::1}"));
  EXPECT_FALSE(same_ignoring_case("a", "ab"));
}

}  // namespace
}  // namespace proteus
