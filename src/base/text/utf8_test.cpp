#include "base/text/utf8.hpp"

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

TEST(CountCharacters, CountsNoBytes) {
  EXPECT_EQ(count_characters(""), 0U);
  EXPECT_EQ(count_characters("aé\U0001F525"), 3U);
}

TEST(AppendUtf8, WritesCharactersOfEachLength) {
  std::string text;
  for (const char32_t character : {U'\x7f', U'\x80', U'\u07ff', U'\u0800', U'\uffff', U'\U00010000', U'\U0010ffff'})
    append_utf8(text, character);
  EXPECT_EQ(text, "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
}

}  // namespace
}  // namespace proteus
