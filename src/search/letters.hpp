#pragma once

#include <cstdint>

namespace proteus::search {

// What a character means for splitting text into words.
enum class Letter : std::uint8_t {
  none,    // between words
  word,    // part of a word
  dense,   // of a script that puts no spaces between words
  symbol,  // a separate word, such as an emoji
  mark,    // only for the eye: an accent, a vowel point, a joiner
};
Letter letter_of(char32_t character);

// Returns the same character for upper and lower case, with and without an accent.
char32_t folded(char32_t character);
bool is_upper(char32_t character);

}  // namespace proteus::search
