#pragma once

#include <string_view>

#include <proteus/error.hpp>

namespace proteus {

// Checks names that operators choose for upstreams, contexts, tokens and the like: 1 to 64 letters, digits, hyphens,
// underscores and dots, so that they are the same in a path, in a tool name and in a log. Dots alone are
// rejected, because they mean something else in a path.
Result<> check_name(std::string_view name);

// Checks names for people, in any script: at most 200 bytes of UTF-8, without characters that control a terminal, end a
// line, cannot be seen or change the direction of what follows. Empty for none.
Result<> check_display_name(std::string_view name);

// Whether a name may contain the character.
constexpr bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

}  // namespace proteus
