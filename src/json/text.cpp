#include "json/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <simdjson.h>

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

// One \u escape, or a pair of them, at `at` (the backslash). Gives the code point and the length consumed.
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

void append_utf8(std::string& out, unsigned code_point) {
  const auto push = [&](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xC0U | (code_point >> 6U));
    push(0x80U | (code_point & 0x3FU));
  } else if (code_point < 0x10000) {
    push(0xE0U | (code_point >> 12U));
    push(0x80U | ((code_point >> 6U) & 0x3FU));
    push(0x80U | (code_point & 0x3FU));
  } else {
    push(0xF0U | (code_point >> 18U));
    push(0x80U | ((code_point >> 12U) & 0x3FU));
    push(0x80U | ((code_point >> 6U) & 0x3FU));
    push(0x80U | (code_point & 0x3FU));
  }
}

constexpr std::string_view kEscapeLetters = "\"\\/bfnrt";
constexpr std::string_view kEscapeValues = "\"\\/\b\f\n\r\t";

// The length of the UTF-8 sequence at `at`, or 0 where there is none.
std::size_t utf8_sequence(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || at + length > text.size()) return 0;
  return simdjson::validate_utf8(text.data() + at, length) ? length : 0;
}

// Whether the text stands in a JSON string as it is, by eight bytes at a time: nothing to escape, and ASCII.
bool is_plain(std::string_view text) {
  constexpr std::uint64_t kEach = 0x0101010101010101U;
  const auto has_other = [](const char* bytes, std::size_t size) {
    std::uint64_t word = kEach * ' ';
    std::memcpy(&word, bytes, size);
    const std::uint64_t quotes = (word ^ (kEach * '"')) - kEach;
    const std::uint64_t backslashes = (word ^ (kEach * '\\')) - kEach;
    return ((word | (word - kEach * ' ') | quotes | backslashes) & (kEach * 0x80)) != 0;
  };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    if (has_other(text.data() + at, 8)) return false;
  }
  return at == text.size() || !has_other(text.data() + at, text.size() - at);
}

}  // namespace

bool valid_escapes(std::string_view inside) {
  std::size_t at = 0;
  while ((at = inside.find('\\', at)) != std::string_view::npos) {
    if (at + 1 >= inside.size()) return false;
    if (inside[at + 1] == 'u') {
      const auto escape = unicode_escape(inside, at);
      if (!escape) return false;
      at += escape->length;
    } else {
      if (kEscapeLetters.find(inside[at + 1]) == std::string_view::npos) return false;
      at += 2;
    }
  }
  return true;
}

void append_quoted(std::string& out, std::string_view text) {
  if (is_plain(text)) {
    out.push_back('"');
    out.append(text);
    out.push_back('"');
    return;
  }
  static constexpr std::string_view kHex = "0123456789abcdef";
  const bool valid = simdjson::validate_utf8(text.data(), text.size());
  out.push_back('"');
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x80 && !valid) {
      const std::size_t length = utf8_sequence(text, at);
      if (length > 0) {
        at += length - 1;
        continue;
      }
      out.append(text, start, at - start);
      out += "\xEF\xBF\xBD";
      start = at + 1;
      continue;
    }
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    out.append(text, start, at - start);
    start = at + 1;
    const std::size_t letter = byte == '/' ? std::string_view::npos : kEscapeValues.find(static_cast<char>(byte));
    out.push_back('\\');
    if (letter != std::string_view::npos) {
      out.push_back(kEscapeLetters[letter]);
    } else {
      out += "u00";
      out.push_back(kHex[byte >> 4U]);
      out.push_back(kHex[byte & 0xFU]);
    }
  }
  out.append(text, start, text.size() - start);
  out.push_back('"');
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
  while ((at = inside.find('\\', start)) != std::string_view::npos) {
    out.append(inside, start, at - start);
    if (inside[at + 1] == 'u') {
      const auto escape = *unicode_escape(inside, at);
      append_utf8(out, escape.code_point);
      start = at + escape.length;
    } else {
      out.push_back(kEscapeValues[kEscapeLetters.find(inside[at + 1])]);
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
  return !raw.empty() && raw.find_first_not_of("0123456789") == std::string_view::npos &&
         (raw.size() == 1 || raw.front() != '0');
}

std::optional<std::int64_t> as_int64(std::string_view raw) {
  std::int64_t value = 0;
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

// Behind the string that starts at `at`.
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
