#pragma once

#include <string_view>

#include <proteus/error.hpp>

namespace proteus {

// Names that operators choose for upstreams, contexts, tokens and the like: 1 to 64 letters, digits, hyphens,
// underscores and dots, so that they are the same in a path, in a tool's name and in a log. Dots alone would mean
// something else in a path. Says what is wrong with one that is none.
Result<> check_name(std::string_view name);

// Names for people, in any script: at most 200 bytes of UTF-8, without characters that control a terminal, end a line
// or change the direction of what follows. Empty for none.
Result<> check_display_name(std::string_view name);

// One that a name may have.
constexpr bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

}  // namespace proteus
