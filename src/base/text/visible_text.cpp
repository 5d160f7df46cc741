#include "base/text/visible_text.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace proteus {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Sorted ranges beyond ASCII: C1 controls, Unicode's format controls and default ignorables, line and paragraph
// separators, and letters that have no glyph.
constexpr std::array<Range, 24> kUnseen = {{
    {0x80, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},     {0x600, 0x605},     {0x61c, 0x61c},
    {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfe00, 0xfe0d},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x110bd, 0x110bd},
    {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
}};

constexpr char32_t kTextStyle = 0xfe0e;  // selects how the preceding character is drawn
constexpr char32_t kEmojiStyle = 0xfe0f;

void escape(std::string& out, char32_t character) {
  const auto number = static_cast<std::uint32_t>(character);
  auto to = std::back_inserter(out);
  number < 0x80 ? fmt::format_to(to, "\\x{:02x}", number) : fmt::format_to(to, "\\u{{{:x}}}", number);
}

void escape_for_json(std::string& out, char32_t character) {
  auto to = std::back_inserter(out);
  if (character < 0x10000) {
    fmt::format_to(to, "\\u{:04x}", static_cast<std::uint32_t>(character));
    return;
  }
  const auto above = static_cast<std::uint32_t>(character) - 0x10000;
  fmt::format_to(to, "\\u{:04x}\\u{:04x}", 0xd800 + (above >> 10U), 0xdc00 + (above & 0x3ffU));
}

}  // namespace

bool is_unseen(char32_t c) {
  if (c < 0x80) return c < 0x20 || c == 0x7f;
  const auto* const range = std::ranges::lower_bound(kUnseen, c, {}, &Range::last);
  return range != kUnseen.end() && range->first <= c;
}

FirstCharacter first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t character = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return {};
    character = (character << 6U) | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  if (character < kLeast[bytes] || character > 0x10ffff || surrogate) return {};
  return {character, bytes};
}

std::string visible_text(std::string_view text, LineEnds line_ends) {
  std::string out;
  out.reserve(text.size());
  bool styled = true;  // no preceding character that a style could apply to
  while (!text.empty()) {
    const FirstCharacter next = first_character(text);
    const char32_t c = next.character;
    const bool is_style = c == kTextStyle || c == kEmojiStyle;
    const bool is_break = line_ends == LineEnds::kept && (c == '\n' || c == '\t') && next.bytes > 0;
    if (next.bytes == 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<std::uint8_t>(text.front()));
    } else if (line_ends == LineEnds::kept && text.starts_with("\r\n")) {
      // The line feed after it is enough.
    } else if (!is_break && (is_unseen(c) || (is_style && styled))) {
      escape(out, c);
    } else {
      out.append(text.substr(0, next.bytes));
    }
    styled = is_style || c <= 0x20;
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return out;
}

std::string visible_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const FirstCharacter next = first_character(json);
    // JSON escapes the ASCII controls itself, except for white space between tokens and DEL. Text that is not UTF-8 is
    // not JSON.
    if ((next.bytes > 1 || next.character == 0x7f) && is_unseen(next.character)) {
      escape_for_json(out, next.character);
    } else {
      out.append(json.substr(0, std::max<std::size_t>(next.bytes, 1)));
    }
    json.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return out;
}

}  // namespace proteus
