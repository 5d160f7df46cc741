#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace proteus::net {

// What a field means for the message it belongs to.
enum class FieldMeaning : std::uint8_t {
  none,
  host,
  expect,
  connection,
  content_length,
  content_encoding,
  transfer_encoding,
  // These say nothing about the message itself, but a request may have each only once: with two, two readers could use
  // different ones.
  authorization,
  content_type,
  last_event_id,
  origin,
};

FieldMeaning meaning_of(std::string_view name);

// The lines of the last head on a connection (ADR 20). Most lines of the next head are the same at the same place, byte
// for byte, and need not be parsed again.
class HeadLines {
 public:
  // The place of a line and of its parts. In a request line, the name is the method and the value is the target.
  struct Line {
    std::uint16_t at = 0;    // in the head
    std::uint16_t size = 0;  // with its line end; 0 if the line is not remembered
    std::uint16_t name = 0;
    std::uint16_t value_at = 0;  // in the line
    std::uint16_t value = 0;
    FieldMeaning meaning = FieldMeaning::none;

    std::string_view name_in(std::string_view line) const { return line.substr(0, name); }
    std::string_view value_in(std::string_view line) const { return line.substr(value_at, value); }
  };

  // Begins another head, whether or not the previous one was finished.
  void restart() {
    next_ = 0;
    changed_ = false;
  }

  // Returns all lines of the last head if `head` begins with exactly that head, else null. Such a head needs no other
  // call.
  const std::vector<Line>* recall_all(std::string_view head) const {
    return !text_.empty() && head.starts_with(text_) ? &lines_ : nullptr;
  }
  std::size_t size() const { return text_.size(); }

  // Returns the next line of the last head if `head` has the same bytes at position `at`, else null.
  const Line* recall(std::string_view head, std::size_t at) {
    if (next_ >= lines_.size()) return nullptr;
    const Line& line = lines_[next_];
    if (line.size == 0 || head.size() - at < line.size) return nullptr;
    if (std::memcmp(head.data() + at, text_.data() + line.at, line.size) != 0) return nullptr;
    if (changed_ || line.at != at) note(line, at);
    ++next_;
    return &line;
  }
  // Notes the parts of a line that was not recalled. `line` is without its line end.
  void learn(std::size_t at, std::string_view line, std::string_view name, std::string_view value,
             FieldMeaning meaning = FieldMeaning::none);
  // Remembers the head, which is complete. Nothing of a head is remembered before that.
  void finish(std::string_view head) {
    if (changed_ || next_ != lines_.size()) remember(head);
  }

 private:
  void differ();
  void note(const Line& line, std::size_t at);
  void remember(std::string_view head);

  // The last complete head. Both are replaced together.
  std::string text_;
  std::vector<Line> lines_;
  // The lines of the current head, if it differs.
  std::vector<Line> changed_lines_;
  bool changed_ = false;
  std::size_t next_ = 0;
};

}  // namespace proteus::net
