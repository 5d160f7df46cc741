#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text/ascii.hpp"

// Tokens of HTTP: methods, field names, connection options.
namespace proteus::net {

// RFC 9110, 5.6.2
inline constexpr std::array<bool, 256> kTokenCharacters = [] {
  std::array<bool, 256> table{};
  for (const char c :
       std::string_view("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}();

constexpr bool is_token_character(char c) { return kTokenCharacters[static_cast<unsigned char>(c)]; }
constexpr bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_character);
}

}  // namespace proteus::net
