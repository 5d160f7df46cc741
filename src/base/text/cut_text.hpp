#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace proteus {

// Returns the beginning of a UTF-8 text: at most `limit` bytes, without half a character at the end.
inline std::string_view cut_text(std::string_view text, std::size_t limit) {
  std::size_t end = std::min(text.size(), limit);
  // At most three bytes follow the first byte of a character.
  for (int i = 0; i < 3 && end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80; ++i)
    --end;
  return text.substr(0, end);
}

}  // namespace proteus
