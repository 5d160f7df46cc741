#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Makes untrusted text visible in full. Characters that control a terminal, that reorder the text around them, or that
// take no room at all (C0 and C1 controls, bidirectional controls, zero-width and tag characters, bytes that are not
// UTF-8) are replaced by an escape: `\x1b`, `\u{202e}`, `\xff`.
namespace proteus {

// Whether a character controls a terminal, reorders text or takes no room, whatever stands before it.
bool is_unseen(char32_t character);

struct FirstCharacter {
  char32_t character = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with a valid character
};
// Decodes the first character of a UTF-8 text, which must not be empty.
FirstCharacter first_character(std::string_view text);

enum class LineEnds : std::uint8_t {
  escaped,
  kept,  // line feeds and tabs stay; a carriage return before a line feed is dropped
};

std::string visible_text(std::string_view text, LineEnds line_ends = LineEnds::escaped);

// Returns a JSON text of the same value, with the non-ASCII ones of these characters escaped in JSON's own way.
std::string visible_json(std::string_view json);

}  // namespace proteus
