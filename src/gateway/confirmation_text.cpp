#include "gateway/confirmation_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::gateway {
namespace {

// A longer text may reach a second line of the display, which could be taken for another argument.
constexpr std::size_t kLongestPlain = 80;

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Controls, and what Unicode calls format characters, default ignorables, and line and paragraph separators.
constexpr std::array<Range, 22> kUnseen = {
    {{0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},    {0x600, 0x605},   {0x61c, 0x61c},
     {0x6dd, 0x6dd},   {0x70f, 0x70f},     {0x115f, 0x1160},   {0x17b4, 0x17b5},  {0x180b, 0x180f}, {0x200b, 0x200f},
     {0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},  {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
     {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}}};

bool is_unseen(std::uint32_t code) {
  const auto* const found = std::ranges::lower_bound(kUnseen, code, {}, &Range::last);
  return found != kUnseen.end() && found->first <= code;
}

// The character at the beginning of a text, which is UTF-8 and not empty.
struct Character {
  std::uint32_t code;
  std::size_t bytes;
};
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (const char c : text.substr(1, bytes - 1))
    code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  return {code, std::min(bytes, text.size())};
}

void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto [code, bytes] = first_of(text);
    if (code == '"' || code == '\\') {
      out += {'\\', static_cast<char>(code)};
    } else if (code == '\n') {
      out += "\\n";
    } else if (code == '\t') {
      out += "\\t";
    } else if (is_unseen(code)) {
      out += code > 0xffff ? fmt::format("\\u{{{:x}}}", code) : fmt::format("\\u{:04x}", code);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text);
  out += '"';
}

bool is_visible(std::string_view text) {
  while (!text.empty()) {
    const auto [code, bytes] = first_of(text);
    if (code == '"' || code == '\\' || is_unseen(code)) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

// Whether a text can stand without quotes: nothing in it can be mistaken, and it is no other JSON value.
bool is_plain(std::string_view text) {
  return !text.empty() && text.size() <= kLongestPlain && !text.starts_with(' ') && !text.ends_with(' ') &&
         !text.contains("  ") && !text.contains(": ") && is_visible(text) && !json::parses(text);
}

// Writes members of an object, a line each. The text is known to be JSON.
class Lines {
 public:
  Lines(std::string& out, std::string_view members) : out_(out), rest_(members) { skip_space(); }

  bool at_end() const { return rest_.empty(); }

  void write_next() {
    const std::string name = take_string();
    append(name, is_plain(name) && !name.contains(':'));
    skip(':');
    out_ += ": ";
    if (rest_.starts_with('"')) {
      const std::string text = take_string();
      append(text, is_plain(text));
    } else {
      write_value();
    }
    out_ += '\n';
    skip(',');
  }

 private:
  void append(std::string_view text, bool plain) {
    if (plain) {
      out_ += text;
    } else {
      append_quoted(out_, text);
    }
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  // A sign and the white space around it.
  void skip(char sign) {
    skip_space();
    if (rest_.starts_with(sign)) rest_.remove_prefix(1);
    skip_space();
  }

  std::string take_string() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"')
      end += rest_[end] == '\\' ? 2 : 1;
    const std::string_view raw = rest_.substr(0, end + 1);
    rest_.remove_prefix(raw.size());
    return json::decode_string(raw).value_or(std::string(raw));
  }

  // Anything but a string, on one line whatever white space it was written with.
  void write_value() {
    std::size_t depth = 0;
    for (; !rest_.empty(); skip_space()) {
      const char c = rest_.front();
      if (c == '"') {
        append_quoted(out_, take_string());
        continue;
      }
      if (c == ',' && depth == 0) return;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      out_ += c;
      if (c == ',' || c == ':') out_ += ' ';
      rest_.remove_prefix(1);
    }
  }

  std::string& out_;
  std::string_view rest_;
};

}  // namespace

Result<std::string> confirmation_text(std::string_view tool, std::string_view arguments) {
  std::string text = "Confirm execution of '";
  append_escaped(text, tool);
  text += "':\n\n";
  Lines lines(text, arguments);
  if (lines.at_end()) return text + "(no arguments)";
  while (!lines.at_end()) {
    lines.write_next();
    if (text.size() > kLongestQuestion) return std::unexpected(errors::too_large("the question", kLongestQuestion));
  }
  text.pop_back();
  return text;
}

}  // namespace proteus::gateway
