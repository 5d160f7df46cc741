#include "base/settings/names.hpp"

#include <string>

#include <gtest/gtest.h>

namespace proteus {
namespace {

TEST(DisplayName, MayBeOfAnyScriptAndMisleadNobody) {
  // Persian separates the parts of a word by a non-joiner, emoji are joined, and 葛 has two forms.
  for (const char* good : {"Dynamic Banking – 銀行", "می\u200cخواهم", "👩\u200d💻", "שלום", "葛\U000e0100城"})
    EXPECT_TRUE(check_display_name(good)) << good;
  for (const char* bad : {"a\u202eb", "a\u200eb", "a\u061cb", "zero\u200bwidth", "a\u2060b", "tag\U000e0041", "a\nb",
                          "\xff", "\xc3", "a\u2028b", "\x7f", "a\U000e0100", "\U000e0100", "葛\U000e0100\U000e0101"})
    EXPECT_FALSE(check_display_name(bad)) << bad;
  EXPECT_FALSE(check_display_name(std::string(201, 'a')));
}

}  // namespace
}  // namespace proteus
