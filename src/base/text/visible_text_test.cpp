#include "base/text/visible_text.hpp"

#include <gtest/gtest.h>

#include "base/log/log.hpp"

namespace proteus {
namespace {

TEST(VisibleText, LeavesWhatPeopleReadAsItIs) {
  for (const char* text : {"", "plain", "naïve café", "日本語", "שלום", "⚠️ careful", "a\u00a0b", "❤️❤️"})
    EXPECT_EQ(visible_text(text), text);
}

TEST(VisibleText, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(visible_text("\x1b]0;x\x07"), "\\x1b]0;x\\x07");
  EXPECT_EQ(visible_text("a\u009b31m"), "a\\u{9b}31m");
  EXPECT_EQ(visible_text("a\x7f\r\n"), "a\\x7f\\x0d\\x0a");
  EXPECT_EQ(visible_text(std::string_view("\0", 1)), "\\x00");
}

TEST(VisibleText, ShowsWhatReordersOrHides) {
  EXPECT_EQ(visible_text("a\u202eb\u2066c"), "a\\u{202e}b\\u{2066}c");
  EXPECT_EQ(visible_text("a\u200bb\u2060\ufeff"), "a\\u{200b}b\\u{2060}\\u{feff}");
  EXPECT_EQ(visible_text("a\U000e0041\U000e007f"), "a\\u{e0041}\\u{e007f}");
  EXPECT_EQ(visible_text("a\u2028b\u3164"), "a\\u{2028}b\\u{3164}");
}

TEST(VisibleText, ShowsSelectorsThatSelectNothing) {
  EXPECT_EQ(visible_text("a\ufe0f\ufe0f\ufe0e"), "a\ufe0f\\u{fe0f}\\u{fe0e}");
  EXPECT_EQ(visible_text("\ufe0f"), "\\u{fe0f}");
  EXPECT_EQ(visible_text("a\ufe01\U000e0100"), "a\\u{fe01}\\u{e0100}");
}

TEST(VisibleText, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(visible_text("a\xff\xc0\x80"), "a\\xff\\xc0\\x80");
  EXPECT_EQ(visible_text("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(visible_text("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(visible_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(VisibleText, KeepsLinesWhereTheyAreWanted) {
  EXPECT_EQ(visible_text("a\r\n\tb\rc\n", LineEnds::kept), "a\n\tb\\x0dc\n");
}

TEST(VisibleText, EscapesInsideJsonWithoutChangingTheValue) {
  EXPECT_EQ(visible_json("{\"a\": \"\u202e\u009b\U000e0041 é\"}\n"), "{\"a\": \"\\u202e\\u009b\\udb40\\udc41 é\"}\n");
  EXPECT_EQ(visible_json("\"\x7f\""), R"("\u007f")");
}

TEST(VisibleText, IsWhatTheLogShows) {
  EXPECT_EQ(log::printable("a\u202eb\u009b"), "a\\u{202e}b\\u{9b}");
  EXPECT_EQ(log::printable("aé", 2), "a…");
}

}  // namespace
}  // namespace proteus
