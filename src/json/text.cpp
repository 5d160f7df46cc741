#include "json/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>

#include <simdjson.h>

#include "base/text/ascii.hpp"
#include "base/text/blocks.hpp"
#include "base/text/utf8.hpp"

namespace proteus::json {
namespace {

std::optional<unsigned> hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  unsigned value = 0;
  const char* const end = text.data() + at + 4;
  const auto [stop, status] = std::from_chars(text.data() + at, end, value, 16);
  if (status != std::errc{} || stop != end) return std::nullopt;
  return value;
}

constexpr bool is_high_surrogate(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool is_low_surrogate(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

// A decoded \u escape, or a surrogate pair of them: the code point and the length consumed.
struct UnicodeEscape {
  unsigned code_point;
  std::size_t length;
};
std::optional<UnicodeEscape> unicode_escape(std::string_view text, std::size_t at) {
  const auto first = hex4(text, at + 2);
  if (!first || is_low_surrogate(*first)) return std::nullopt;
  if (!is_high_surrogate(*first)) return UnicodeEscape{*first, 6};
  if (text.substr(at + 6, 2) != "\\u") return std::nullopt;
  const auto second = hex4(text, at + 8);
  if (!second || !is_low_surrogate(*second)) return std::nullopt;
  return UnicodeEscape{0x10000 + ((*first - 0xD800) << 10U) + (*second - 0xDC00), 12};
}

constexpr std::string_view kEscapeLetters = "\"\\/bfnrt";
constexpr std::string_view kEscapeValues = "\"\\/\b\f\n\r\t";

// Maps the letter after a backslash to the character that it stands for; 0 if the letter is not an escape.
constexpr auto kEscaped = [] {
  std::array<char, 256> table{};
  for (std::size_t i = 0; i < kEscapeLetters.size(); ++i)
    table[static_cast<unsigned char>(kEscapeLetters[i])] = kEscapeValues[i];
  return table;
}();

// Escapes come in groups, so checking the next few bytes first is faster than a search.
std::size_t next_escape(std::string_view text, std::size_t at) {
  constexpr std::size_t kNear = 8;
  const std::size_t near = std::min(text.size(), at + kNear);
  for (; at < near; ++at) {
    if (text[at] == '\\') return at;
  }
  return text.find('\\', at);
}

// Returns the length of the UTF-8 sequence at `at`, or 0 if it is invalid.
std::size_t utf8_sequence(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || at + length > text.size()) return 0;
  return simdjson::validate_utf8(text.data() + at, length) ? length : 0;
}

// Replaces each byte of invalid UTF-8 by U+FFFD.
std::string repaired(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_sequence(text, at);
    out += length > 0 ? text.substr(at, length) : "\xEF\xBF\xBD";
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

using blocks::Block;
using Wide = unsigned short __attribute__((vector_size(32)));

// Loads a text that is shorter than a block: its bytes, some of them twice, padded with spaces.
Block short_block(std::string_view text) {
  Block block = Block{} + ' ';
  const auto twice = [&]<class Word>(Word /*size*/) {
    std::memcpy(&block, text.data(), sizeof(Word));
    std::memcpy(reinterpret_cast<char*>(&block) + 8, text.data() + text.size() - sizeof(Word), sizeof(Word));
  };
  if (text.size() >= 8) {
    twice(std::uint64_t{});
  } else if (text.size() >= 4) {
    twice(std::uint32_t{});
  } else if (!text.empty()) {
    block[0] = static_cast<unsigned char>(text.front());
    block[1] = static_cast<unsigned char>(text[text.size() / 2]);
    block[2] = static_cast<unsigned char>(text.back());
  }
  return block;
}

// What quoting a text requires: an upper bound for the bytes that escapes add, and whether the text is ASCII and needs
// no validation as UTF-8.
struct Survey {
  std::size_t growth = 0;
  bool ascii = true;
};

Survey survey(std::string_view text) {
  constexpr std::ptrdiff_t kBlocks = 48;  // more could overflow the byte counters
  Survey found;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    Block growth{};
    Block any{};
    const auto add = [&](Block block) {
      growth += ((Block)(block < 0x20) & 5) | ((Block)((block == '"') | (block == '\\')) & 1);
      any |= block;
    };
    for (const char* const stop = at + (16 * std::min(kBlocks, (end - at) / 16)); at < stop; at += 16)
      add(blocks::at(at));
    if (end - at < 16) {
      add(text.size() < 16 ? short_block(text) : blocks::at(end - 16));
      at = end;
    }
    found.growth += __builtin_reduce_add(__builtin_convertvector(growth, Wide));
    found.ascii &= __builtin_reduce_or(any) < 0x80;
  }
  return found;
}

char* write_each(char* to, const char* from, const char* end) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  for (; from < end; ++from) {
    const auto byte = static_cast<unsigned char>(*from);
    if (byte >= 0x20) {
      *to = '\\';
      to += static_cast<int>(byte == '"') | static_cast<int>(byte == '\\');
      *to++ = *from;
      continue;
    }
    *to++ = '\\';
    if (const auto letter = kEscapeValues.find(*from); letter != std::string_view::npos) {
      *to++ = kEscapeLetters[letter];
      continue;
    }
    for (const char part : {'u', '0', '0', kHex[byte >> 4U], kHex[byte & 0xFU]})
      *to++ = part;
  }
  return to;
}

// The text must be UTF-8, and `to` must have room for it plus the growth that `survey` returns.
char* write_escaped(char* to, std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  // Writes each block whole, and its rest again after each inserted backslash: JSON within JSON has a quote every few
  // bytes. This reads and writes up to a block too much, for which the rest of the text has room.
  for (; end - at >= 32; at += 16) {
    const Block block = blocks::at(at);
    if (__builtin_reduce_min(block) < 0x20) {
      to = write_each(to, at, at + 16);
      continue;
    }
    std::memcpy(to, at, 16);
    const auto found = (block == '"') | (block == '\\');
    std::array<std::uint64_t, 2> hits;
    std::memcpy(hits.data(), &found, sizeof hits);
    for (std::size_t half = 0; half < 2; ++half) {
      for (std::uint64_t left = hits[half]; left != 0;) {
        const auto bit = static_cast<unsigned>(std::countr_zero(left));
        left &= ~(std::uint64_t{0xFF} << bit);
        const std::size_t place = (8 * half) + (bit / 8);
        to[place] = '\\';
        std::memcpy(++to + place, at + place, 16);
      }
    }
    to += 16;
  }
  return write_each(to, at, end);
}

}  // namespace

bool valid_escapes(std::string_view inside) {
  std::size_t at = 0;
  while ((at = next_escape(inside, at)) != std::string_view::npos) {
    if (at + 1 >= inside.size()) return false;
    if (inside[at + 1] == 'u') {
      const auto escape = unicode_escape(inside, at);
      if (!escape) return false;
      at += escape->length;
    } else {
      if (kEscaped[static_cast<unsigned char>(inside[at + 1])] == '\0') return false;
      at += 2;
    }
  }
  return true;
}

void append_quoted(std::string& out, std::string_view text) {
  const Survey found = survey(text);
  if (!found.ascii && !simdjson::validate_utf8(text.data(), text.size())) return append_quoted(out, repaired(text));
  if (found.growth == 0) {
    out.push_back('"');
    out.append(text);
    out.push_back('"');
    return;
  }
  const std::size_t before = out.size();
  out.resize_and_overwrite(before + text.size() + found.growth + 2, [&](char* bytes, std::size_t /*room*/) {
    char* to = bytes + before;
    *to++ = '"';
    to = write_escaped(to, text);
    *to++ = '"';
    return static_cast<std::size_t>(to - bytes);
  });
}

std::string quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_quoted(out, text);
  return out;
}

Result<std::string> decode_string(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"' || raw.back() != '"') {
    return std::unexpected(errors::invalid("a string is expected"));
  }
  const std::string_view inside = raw.substr(1, raw.size() - 2);
  if (!valid_escapes(inside)) return std::unexpected(errors::invalid("a string holds an invalid escape"));
  std::string out;
  out.reserve(inside.size());
  std::size_t start = 0;
  std::size_t at = 0;
  while ((at = next_escape(inside, start)) != std::string_view::npos) {
    out.append(inside, start, at - start);
    if (inside[at + 1] == 'u') {
      const auto escape = *unicode_escape(inside, at);
      append_utf8(out, escape.code_point);
      start = at + escape.length;
    } else {
      out.push_back(kEscaped[static_cast<unsigned char>(inside[at + 1])]);
      start = at + 2;
    }
  }
  out.append(inside, start);
  return out;
}

std::optional<std::string_view> plain_string(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"') return std::nullopt;
  const std::string_view inside = raw.substr(1, raw.size() - 2);
  if (inside.find('\\') != std::string_view::npos) return std::nullopt;
  return inside;
}

bool is_integer(std::string_view raw) {
  if (!raw.empty() && raw.front() == '-') raw.remove_prefix(1);
  return !raw.empty() && std::ranges::all_of(raw, is_digit) && (raw.size() == 1 || raw.front() != '0');
}

std::optional<std::int64_t> as_int64(std::string_view raw) {
  // Fast path: every request id is read here, and ids are long in a cluster.
  constexpr std::size_t kNeverTooLarge = 18;
  std::int64_t value = 0;
  std::size_t digits = 0;
  for (; digits < raw.size() && digits < kNeverTooLarge && is_digit(raw[digits]); ++digits)
    value = value * 10 + (raw[digits] - '0');
  if (digits == raw.size() && digits > 0) return value;
  const auto [stop, status] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (status != std::errc{} || stop != raw.data() + raw.size()) return std::nullopt;
  return value;
}

namespace {

constexpr std::string_view kSpace = " \n\t\r";

std::size_t skip_space(std::string_view text, std::size_t at) {
  at = text.find_first_not_of(kSpace, at);
  return at == std::string_view::npos ? text.size() : at;
}

// Returns the position after the string that starts at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (std::size_t end = text.find('"', at + 1); end != std::string_view::npos; end = text.find('"', end + 1)) {
    std::size_t backslashes = 0;
    while (text[end - 1 - backslashes] == '\\')
      ++backslashes;
    if (backslashes % 2 == 0) return end + 1;
  }
  return text.size();
}

std::size_t skip_value(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '"') return skip_string(text, at);
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (depth == 0 && (c == ',' || c == '}' || c == ']' || kSpace.find(c) != std::string_view::npos)) return at;
    ++at;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return at;
}

}  // namespace

std::string_view find_member(std::string_view object, std::string_view key) {
  std::size_t at = skip_space(object, 0);
  if (at == object.size() || object[at] != '{') return {};
  for (at = skip_space(object, at + 1); at < object.size() && object[at] == '"';) {
    const std::size_t key_end = skip_string(object, at);
    const std::string_view raw = object.substr(at, key_end - at);
    const auto plain = plain_string(raw);
    const bool found = plain ? *plain == key : decode_string(raw).value_or("") == key;
    const std::size_t begin = skip_space(object, skip_space(object, key_end) + 1);
    const std::size_t end = skip_value(object, begin);
    if (found) return object.substr(begin, end - begin);
    at = skip_space(object, end);
    if (at < object.size() && object[at] == ',') at = skip_space(object, at + 1);
  }
  return {};
}

}  // namespace proteus::json
