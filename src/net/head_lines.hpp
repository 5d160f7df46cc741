#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace proteus::net {

// What a field says about the message it belongs to.
enum class FieldMeaning : std::uint8_t {
  none,
  host,
  expect,
  connection,
  content_length,
  content_encoding,
  transfer_encoding,
};

FieldMeaning meaning_of(std::string_view name);

// The lines of the last head on a connection. Most of those of the next one are the same at the same place, byte for
// byte, and need not be looked at again.
class HeadLines {
 public:
  // Where the parts of a line are. Of a request line, the name is the method and the value the target.
  struct Line {
    std::uint16_t at = 0;    // in the head
    std::uint16_t size = 0;  // with its end; 0 for one that is not remembered
    std::uint16_t name = 0;
    std::uint16_t value_at = 0;  // in the line
    std::uint16_t value = 0;
    FieldMeaning meaning = FieldMeaning::none;

    std::string_view name_in(std::string_view line) const { return {line.data(), name}; }
    std::string_view value_in(std::string_view line) const { return {line.data() + value_at, value}; }
  };

  // Another head begins.
  void restart() {
    next_ = 0;
    changed_ = false;
  }

  // The line that begins `at` that place in a head, if it is the one that was there before; else null.
  const Line* recall(std::string_view head, std::size_t at) {
    if (next_ >= lines_.size()) return nullptr;
    Line& line = lines_[next_];
    if (line.size == 0 || head.size() - at < line.size) return nullptr;
    if (std::memcmp(head.data() + at, text_.data() + line.at, line.size) != 0) return nullptr;
    line.at = static_cast<std::uint16_t>(at);
    ++next_;
    return &line;
  }
  // What a line that was not recalled was found to be, without its end.
  void learn(std::size_t at, std::string_view line, std::string_view name, std::string_view value,
             FieldMeaning meaning = FieldMeaning::none);
  // The head is whole.
  void finish(std::string_view head) {
    if (changed_ || next_ != lines_.size()) remember(head);
  }

 private:
  void remember(std::string_view head);

  std::string text_;
  std::vector<Line> lines_;
  std::size_t next_ = 0;
  bool changed_ = false;
};

}  // namespace proteus::net
