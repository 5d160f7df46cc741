#include "base/text/cut_text.hpp"

#include <gtest/gtest.h>

namespace proteus {
namespace {

TEST(CutText, KeepsWholeCharacters) {
  EXPECT_EQ(cut_text("abc", 3), "abc");
  EXPECT_EQ(cut_text("abc", 2), "ab");
  EXPECT_EQ(cut_text("aé", 3), "aé");
  EXPECT_EQ(cut_text("aé", 2), "a");
  EXPECT_EQ(cut_text("a\xF0\x9F\x94\xA5", 4), "a");
  EXPECT_EQ(cut_text("é", 0), "");
}

TEST(CutText, DoesNotGoFarBackInWhatIsNoText) { EXPECT_EQ(cut_text("\x80\x80\x80\x80\x80\x80", 5).size(), 2U); }

}  // namespace
}  // namespace proteus
