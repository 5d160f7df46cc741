#include "search/letters.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace proteus::search {
namespace {

struct Range {
  char32_t first;
  char32_t last;
  Letter letter;
};

// Sorted. A character from U+0080 on that is in no range is part of a word.
constexpr std::array kRanges = {
    Range{0x80, 0xA9, Letter::none},         Range{0xAB, 0xB4, Letter::none},
    Range{0xB6, 0xB9, Letter::none},         Range{0xBB, 0xBF, Letter::none},
    Range{0xD7, 0xD7, Letter::none},         Range{0xF7, 0xF7, Letter::none},
    Range{0x300, 0x36F, Letter::mark},       Range{0x37E, 0x37E, Letter::none},
    Range{0x387, 0x387, Letter::none},       Range{0x55A, 0x55F, Letter::none},
    Range{0x589, 0x58A, Letter::none},       Range{0x591, 0x5BD, Letter::mark},
    Range{0x5BE, 0x5BE, Letter::none},       Range{0x5BF, 0x5C7, Letter::mark},
    Range{0x5F3, 0x5F4, Letter::none},       Range{0x600, 0x60F, Letter::none},
    Range{0x610, 0x61A, Letter::mark},       Range{0x61B, 0x61F, Letter::none},
    Range{0x640, 0x640, Letter::mark},       Range{0x64B, 0x65F, Letter::mark},
    Range{0x66A, 0x66D, Letter::none},       Range{0x670, 0x670, Letter::mark},
    Range{0x6D4, 0x6D4, Letter::none},       Range{0x6D6, 0x6ED, Letter::mark},
    Range{0x964, 0x965, Letter::none},       Range{0xE00, 0xEFF, Letter::dense},
    Range{0x1000, 0x109F, Letter::dense},    Range{0x1780, 0x17FF, Letter::dense},
    Range{0x2000, 0x200B, Letter::none},     Range{0x200C, 0x200D, Letter::mark},
    Range{0x200E, 0x206F, Letter::none},     Range{0x20A0, 0x20CF, Letter::symbol},
    Range{0x20D0, 0x20FF, Letter::mark},     Range{0x2190, 0x2BFF, Letter::symbol},
    Range{0x2E00, 0x2E7F, Letter::none},     Range{0x2E80, 0x2FDF, Letter::dense},
    Range{0x2FF0, 0x3004, Letter::none},     Range{0x3005, 0x3007, Letter::dense},
    Range{0x3008, 0x3020, Letter::none},     Range{0x3030, 0x3030, Letter::none},
    Range{0x303D, 0x303F, Letter::none},     Range{0x3040, 0x3098, Letter::dense},
    Range{0x3099, 0x309C, Letter::mark},     Range{0x309D, 0x30FA, Letter::dense},
    Range{0x30FB, 0x30FB, Letter::none},     Range{0x30FC, 0x31FF, Letter::dense},
    Range{0x3200, 0x33FF, Letter::symbol},   Range{0x3400, 0x4DBF, Letter::dense},
    Range{0x4DC0, 0x4DFF, Letter::symbol},   Range{0x4E00, 0x9FFF, Letter::dense},
    Range{0xAC00, 0xD7AF, Letter::dense},    Range{0xE000, 0xF8FF, Letter::none},
    Range{0xF900, 0xFAFF, Letter::dense},    Range{0xFE00, 0xFE0F, Letter::mark},
    Range{0xFE10, 0xFE6F, Letter::none},     Range{0xFEFF, 0xFEFF, Letter::mark},
    Range{0xFF00, 0xFF0F, Letter::none},     Range{0xFF1A, 0xFF20, Letter::none},
    Range{0xFF3B, 0xFF40, Letter::none},     Range{0xFF5B, 0xFF65, Letter::none},
    Range{0xFF66, 0xFFDC, Letter::dense},    Range{0xFFE0, 0xFFFF, Letter::none},
    Range{0x1F000, 0x1F3FA, Letter::symbol}, Range{0x1F3FB, 0x1F3FF, Letter::mark},
    Range{0x1F400, 0x1FAFF, Letter::symbol}, Range{0x20000, 0x3FFFF, Letter::dense},
    Range{0xE0000, 0x10FFFF, Letter::mark},
};

// The letters from U+00C0 and from U+0100, without accents.
constexpr std::string_view kLatin1 = "aaaaaaaceeeeiiiidnooooo*ouuuuytsaaaaaaaceeeeiiiidnooooo*ouuuuyty";
constexpr std::string_view kLatinExtended =
    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnooooooo"
    "orrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
static_assert(kLatin1.size() == 64 && kLatinExtended.size() == 128);

constexpr std::u32string_view kGreekAccented = U"ΆΈΉΊΌΎΏάέήίόύώςΐΰ";
constexpr std::u32string_view kGreekPlain = U"αεηιουωαεηιουωσιυ";
static_assert(kGreekAccented.size() == kGreekPlain.size());

constexpr bool within(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

char32_t folded_vietnamese(char32_t c) {
  if (c <= 0x1EB7) return U'a';
  if (c <= 0x1EC7) return U'e';
  if (c <= 0x1ECB) return U'i';
  if (c <= 0x1EE3) return U'o';
  return c <= 0x1EF1 ? U'u' : U'y';
}

char32_t folded_greek(char32_t c) {
  const auto accented = kGreekAccented.find(c);
  if (accented != std::u32string_view::npos) return kGreekPlain[accented];
  return within(c, 0x391, 0x3AB) ? c + 32 : c;
}

char32_t folded_cyrillic(char32_t c) {
  if (c == 0x401 || c == 0x451) return 0x435;  // the letter yo is often written as ye
  if (within(c, 0x400, 0x40F)) return c + 80;
  if (within(c, 0x410, 0x42F)) return c + 32;
  if (within(c, 0x460, 0x481) || within(c, 0x48A, 0x4BF) || within(c, 0x4D0, 0x52F)) return c | 1U;
  return c;
}

char32_t folded_arabic(char32_t c) {
  if (c == 0x622 || c == 0x623 || c == 0x625) return 0x627;  // alef
  if (within(c, 0x660, 0x669)) return U'0' + (c - 0x660);
  if (within(c, 0x6F0, 0x6F9)) return U'0' + (c - 0x6F0);
  return c;
}

}  // namespace

Letter letter_of(char32_t c) {
  if (c < 0x80) {
    const bool word = within(c, U'a', U'z') || within(c, U'A', U'Z') || within(c, U'0', U'9');
    return word ? Letter::word : Letter::none;
  }
  const auto found = std::ranges::lower_bound(kRanges, c, {}, &Range::last);
  return found != kRanges.end() && found->first <= c ? found->letter : Letter::word;
}

char32_t folded(char32_t c) {
  if (c < 0x80) return within(c, U'A', U'Z') ? c + 32 : c;
  if (within(c, 0xC0, 0xFF)) return static_cast<unsigned char>(kLatin1[c - 0xC0]);
  if (within(c, 0x100, 0x17F)) return static_cast<unsigned char>(kLatinExtended[c - 0x100]);
  if (c == 0x1A0 || c == 0x1A1) return U'o';
  if (c == 0x1AF || c == 0x1B0) return U'u';
  if (within(c, 0x370, 0x3FF)) return folded_greek(c);
  if (within(c, 0x400, 0x52F)) return folded_cyrillic(c);
  if (within(c, 0x531, 0x556)) return c + 48;
  if (within(c, 0x600, 0x6FF)) return folded_arabic(c);
  if (within(c, 0x1C90, 0x1CBF)) return c - 0x1C90 + 0x10D0;
  if (within(c, 0x1EA0, 0x1EF9)) return folded_vietnamese(c);
  if (within(c, 0x1E00, 0x1E95)) return c | 1U;
  if (within(c, 0xFF01, 0xFF5E)) return folded(c - 0xFEE0);  // full-width forms
  return c;
}

bool is_upper(char32_t c) {
  if (c < 0x80) return within(c, U'A', U'Z');
  return within(c, 0xC0, 0xDE) || within(c, 0x386, 0x38F) || within(c, 0x391, 0x3AB) || within(c, 0x400, 0x42F) ||
         within(c, 0x531, 0x556) || within(c, 0xFF21, 0xFF3A);
}

}  // namespace proteus::search
