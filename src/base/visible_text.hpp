#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Text from strangers, written so that a person sees all of it. Characters that control a terminal, that reorder what
// stands around them, or that take no room at all (C0 and C1 controls, bidirectional controls, zero-width and tag
// characters, bytes that are not UTF-8) are replaced by an escape: `\x1b`, `\u{202e}`, `\xff`.
namespace proteus {

// Whether a character is one of those.
bool is_unseen(char32_t character);

struct FirstCharacter {
  char32_t character = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with one
};
// Of a UTF-8 text, which is not empty.
FirstCharacter first_character(std::string_view text);

enum class LineEnds : std::uint8_t {
  escaped,
  kept,  // line feeds and tabs stay, and a carriage return in front of a line feed goes
};

std::string visible_text(std::string_view text, LineEnds line_ends = LineEnds::escaped);

// A JSON text of the same value in which those characters are JSON's own escapes.
std::string visible_json(std::string_view json);

}  // namespace proteus
