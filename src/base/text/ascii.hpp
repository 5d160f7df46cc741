#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// Characters of ASCII, whatever the locale.
namespace proteus {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Returns the value of a hexadecimal digit; -1 for any other character.
constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Other characters than A to Z stay as they are.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return lower_case(c); });
  return out;
}

inline bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower_case(x) == lower_case(y); });
}

// Returns the text without the characters of `space` at its beginning and end.
constexpr std::string_view trimmed(std::string_view text, std::string_view space) {
  const auto begin = std::min(text.find_first_not_of(space), text.size());
  return text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

}  // namespace proteus
