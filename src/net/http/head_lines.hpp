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
  // Nothing about the message, but a request has only one: two readers could each believe another of two.
  authorization,
  content_type,
  last_event_id,
  origin,
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

    std::string_view name_in(std::string_view line) const { return line.substr(0, name); }
    std::string_view value_in(std::string_view line) const { return line.substr(value_at, value); }
  };

  // Another head begins, whatever became of the one before.
  void restart() {
    next_ = 0;
    changed_ = false;
  }

  // All lines of the last head, if this one is the same as far as that went; else null. Nothing else need be told of
  // it.
  const std::vector<Line>* recall_all(std::string_view head) const {
    return !text_.empty() && head.starts_with(text_) ? &lines_ : nullptr;
  }
  std::size_t size() const { return text_.size(); }

  // The line that begins `at` that place in a head, if it is the one that was there before; else null.
  const Line* recall(std::string_view head, std::size_t at) {
    if (next_ >= lines_.size()) return nullptr;
    const Line& line = lines_[next_];
    if (line.size == 0 || head.size() - at < line.size) return nullptr;
    if (std::memcmp(head.data() + at, text_.data() + line.at, line.size) != 0) return nullptr;
    if (changed_ || line.at != at) note(line, at);
    ++next_;
    return &line;
  }
  // What a line that was not recalled was found to be, without its end.
  void learn(std::size_t at, std::string_view line, std::string_view name, std::string_view value,
             FieldMeaning meaning = FieldMeaning::none);
  // The head is whole: only now is anything of it remembered.
  void finish(std::string_view head) {
    if (changed_ || next_ != lines_.size()) remember(head);
  }

 private:
  void differ();
  void note(const Line& line, std::size_t at);
  void remember(std::string_view head);

  // Of the last head that was whole; replaced together.
  std::string text_;
  std::vector<Line> lines_;
  // Of this one, where it is not the same.
  std::vector<Line> changed_lines_;
  bool changed_ = false;
  std::size_t next_ = 0;
};

}  // namespace proteus::net
