#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace proteus {

// Whether a byte of a UTF-8 text continues a character, so is not its first.
constexpr bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80; }

// Returns how many characters a UTF-8 text has.
constexpr std::size_t count_characters(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation));
}

// Returns the beginning of a UTF-8 text: at most `limit` bytes, without half a character at the end.
constexpr std::string_view cut_text(std::string_view text, std::size_t limit) {
  std::size_t end = std::min(text.size(), limit);
  // At most three bytes follow the first byte of a character.
  for (int i = 0; i < 3 && end > 0 && end < text.size() && is_continuation(text[end]); ++i)
    --end;
  return text.substr(0, end);
}

inline void append_utf8(std::string& out, char32_t character) {
  const auto push = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (character < 0x80) {
    push(character);
  } else if (character < 0x800) {
    push(0xc0U | (character >> 6U));
    push(0x80U | (character & 0x3fU));
  } else if (character < 0x10000) {
    push(0xe0U | (character >> 12U));
    push(0x80U | ((character >> 6U) & 0x3fU));
    push(0x80U | (character & 0x3fU));
  } else {
    push(0xf0U | (character >> 18U));
    push(0x80U | ((character >> 12U) & 0x3fU));
    push(0x80U | ((character >> 6U) & 0x3fU));
    push(0x80U | (character & 0x3fU));
  }
}

}  // namespace proteus
