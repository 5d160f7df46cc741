#include "net/http/field_text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "net/http/eight_bytes.hpp"

namespace proteus::net {
namespace {

// Returns nonzero if one of eight bytes is below `bound`, which is at most 0x80, or is 0x7f.
constexpr std::uint64_t below_or_delete(std::uint64_t bytes, std::uint64_t bound) {
  const std::uint64_t below = (bytes - bound * kEach) & ~bytes;
  const std::uint64_t others = bytes ^ (0x7f * kEach);
  return (below | ((others - kEach) & ~others)) & kHigh;
}

// Checks eight bytes at a time: values are too short for the compiler's own vectors to pay off.
bool may_hold_below_or_delete(std::string_view text, std::uint64_t bound) {
  std::uint64_t bytes = 0;
  if (text.size() < sizeof bytes) {
    bytes = 'x' * kEach;
    std::memcpy(&bytes, text.data(), text.size());
    return below_or_delete(bytes, bound) != 0;
  }
  std::uint64_t found = 0;
  for (std::size_t at = 0; at + sizeof bytes <= text.size(); at += sizeof bytes) {
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    found |= below_or_delete(bytes, bound);
  }
  std::memcpy(&bytes, text.data() + text.size() - sizeof bytes, sizeof bytes);
  return (found | below_or_delete(bytes, bound)) != 0;
}

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

bool has_control(std::string_view value) {
  return may_hold_below_or_delete(value, 0x20) && std::ranges::any_of(value, is_control);
}

}  // namespace proteus::net
