#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "datasets/mapping/value.hpp"
#include "json/text.hpp"

namespace proteus::datasets {

// A buffer for a long text of many short pieces. Appending takes a few stores if there is room, and there usually is.
class Pieces {
 public:
  explicit Pieces(std::size_t expected) { grow(expected); }

  std::size_t size() const { return static_cast<std::size_t>(at_ - text_.data()); }
  [[gnu::always_inline]] Pieces& operator+=(std::string_view piece) {
    if (piece.size() > room()) grow(piece.size());
    std::memcpy(at_, piece.data(), piece.size());
    at_ += piece.size();
    return *this;
  }
  [[gnu::always_inline]] Pieces& operator+=(char piece) {
    if (room() == 0) grow(1);
    *at_++ = piece;
    return *this;
  }
  void number(std::int64_t number) {
    const fmt::format_int written(number);
    *this += std::string_view(written.data(), written.size());
  }
  // Appends a JSON string.
  void quoted(std::string_view text) {
    if (!is_plain(text)) return void(*this += json::quote(text));
    *this += '"';
    *this += text;
    *this += '"';
  }
  void json(const Value& value) {
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) return number(*whole);
    std::string written;
    append_json(written, value);
    *this += written;
  }
  // Appends a part of the text again.
  void again(std::size_t at, std::size_t size) {
    if (size > room()) grow(size);
    std::memcpy(at_, text_.data() + at, size);
    at_ += size;
  }
  void pop_back() { --at_; }

  std::string take() && {
    text_.resize(size());
    return std::move(text_);
  }

 private:
  std::size_t room() const { return static_cast<std::size_t>(end_ - at_); }
  [[gnu::noinline]] void grow(std::size_t by) {
    const std::size_t written = at_ == nullptr ? 0 : size();
    text_.resize_and_overwrite(std::max(written + by, 2 * text_.size()), [](char*, std::size_t all) { return all; });
    at_ = text_.data() + written;
    end_ = text_.data() + text_.size();
  }

  // Returns whether all characters are printable ASCII that JSON does not escape.
  static bool is_plain(std::string_view text) {
    constexpr std::uint64_t kEach = 0x0101010101010101U;
    const auto plain = [](const char* bytes, std::size_t size) {
      std::uint64_t word = kEach * ' ';
      std::memcpy(&word, bytes, size);
      const std::uint64_t quotes = word ^ (kEach * '"');
      const std::uint64_t slashes = word ^ (kEach * '\\');
      return ((word | (word - kEach * ' ') | (quotes - kEach) | (slashes - kEach)) & (kEach * 0x80)) == 0;
    };
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) {
      if (!plain(text.data() + at, 8)) return false;
    }
    return at == text.size() || plain(text.data() + at, text.size() - at);
  }

  std::string text_;     // may be written to in full
  char* at_ = nullptr;   // end of what was written
  char* end_ = nullptr;  // end of `text_`
};

}  // namespace proteus::datasets
