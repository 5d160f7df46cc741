#pragma once

#include <cstdint>

namespace proteus::search {

// What a character is to somebody who looks for words.
enum class Letter : std::uint8_t {
  none,    // between words
  word,    // a part of a word
  dense,   // of a script that puts nothing between words
  symbol,  // a word of its own, such as an emoji
  mark,    // is there for the eye: an accent, a vowel point, a joiner
};
Letter letter_of(char32_t character);

// The same for upper and lower case, and with or without an accent.
char32_t folded(char32_t character);
bool is_upper(char32_t character);

}  // namespace proteus::search
