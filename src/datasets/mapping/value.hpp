#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace proteus::datasets {

// A text of the source, valid UTF-8, at most so many bytes of it.
struct Text {
  std::string text = {};
  std::size_t whole = 0;  // bytes in the source; more than are here where it was cut
  bool repaired = false;  // bytes that were no UTF-8 became U+FFFD

  friend bool operator==(const Text&, const Text&) = default;
};

// Bytes that are no text; only how many there are is known.
struct Bytes {
  std::size_t size = 0;

  friend bool operator==(const Bytes&, const Bytes&) = default;
};

// What stands in a row.
using Value = std::variant<std::monostate, std::int64_t, double, bool, Text, Bytes>;

inline bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }
inline Value text_value(std::string text) {
  const std::size_t size = text.size();
  return Text{.text = std::move(text), .whole = size};
}

// Takes bytes of a source: cut at a character so that at most `limit` bytes are left, and repaired. `whole` is how many
// there were, where these are fewer already.
Text take_text(std::string_view bytes, std::size_t limit, std::size_t whole = 0);

// As it stands in texts, keys and comparisons; empty for null.
std::string to_text(const Value& value);
void append_text(std::string& out, const Value& value);
void append_number(std::string& out, std::int64_t number);
void append_json(std::string& out, const Value& value);

}  // namespace proteus::datasets
