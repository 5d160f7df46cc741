#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace proteus::datasets {

// A text of the source: valid UTF-8 of limited length.
struct Text {
  std::string text = {};
  std::size_t whole = 0;  // bytes in the source; more than here if the text was cut
  bool repaired = false;  // bytes that are not UTF-8 became U+FFFD

  friend bool operator==(const Text&, const Text&) = default;
};

// Bytes that are not text; only their number is kept.
struct Bytes {
  std::size_t size = 0;

  friend bool operator==(const Bytes&, const Bytes&) = default;
};

// A value in a row.
using Value = std::variant<std::monostate, std::int64_t, double, bool, Text, Bytes>;

inline bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }
inline Value text_value(std::string text) {
  const std::size_t size = text.size();
  return Text{.text = std::move(text), .whole = size};
}

// Returns the bytes of a source as text: cut at a character to at most `limit` bytes, and repaired. `whole` is their
// number in the source, if `bytes` has fewer already.
Text take_text(std::string_view bytes, std::size_t limit, std::size_t whole = 0);

// Give the form that appears in texts, keys and comparisons; empty for null.
std::string to_text(const Value& value);
void append_text(std::string& out, const Value& value);
void append_number(std::string& out, std::int64_t number);
void append_json(std::string& out, const Value& value);

}  // namespace proteus::datasets
