#include "gateway/confirmation/confirmation_text.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/text/visible_text.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

// The display may wrap a longer text, and its second line could be taken for another argument.
constexpr std::size_t kLongestPlain = 80;

void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    if (bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text.front()));
    } else if (code == '"' || code == '\\') {
      out += {'\\', static_cast<char>(code)};
    } else if (code == '\n') {
      out += "\\n";
    } else if (code == '\t') {
      out += "\\t";
    } else if (is_unseen(code)) {
      out += code > 0xffff ? fmt::format("\\u{{{:x}}}", std::uint32_t{code})
                           : fmt::format("\\u{:04x}", std::uint32_t{code});
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text);
  out += '"';
}

bool is_visible(std::string_view text) {
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    if (bytes == 0 || code == '"' || code == '\\' || is_unseen(code)) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

// Returns whether a text can stand without quotes: nothing in it is ambiguous, and it does not read as another JSON
// value.
bool is_plain(std::string_view text) {
  return !text.empty() && text.size() <= kLongestPlain && !text.starts_with(' ') && !text.ends_with(' ') &&
         !text.contains("  ") && !text.contains(": ") && is_visible(text) && !json::parses(text);
}

// Writes the members of an object, one per line. The text must be valid JSON.
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

  // Skips a punctuation mark and the white space around it.
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

  // Writes any value but a string on one line, whatever its white space.
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
