#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <proteus/error.hpp>

#include "base/memory/growing_memory.hpp"

namespace proteus::net {

// Collects bytes and returns them line by line.
class LineBuffer {
 public:
  // Number of bytes that can be read after the end of every line, as simdjson requires.
  static constexpr std::size_t kPadding = 64;

  explicit LineBuffer(std::size_t max_line_bytes) : max_line_bytes_(max_line_bytes) {}

  // Returns space for the next bytes; `commit` says how many were written there. Invalidates the lines returned before.
  std::span<char> room();
  void commit(std::size_t count) { filled_ += count; }

  // Returns the next line without its LF or CR LF, or nothing if no complete line has arrived. The line is valid until
  // `room` is called. Fails for good if a line is longer than allowed.
  Result<std::optional<std::string_view>> take_line();

  // Returns an owner that keeps the last line valid for longer than this buffer.
  std::shared_ptr<const void> take_memory();

  // Whether bytes are left that belong to no complete line.
  bool has_partial_line() const { return filled_ > begin_; }
  void drop_partial_line() { begin_ = scanned_ = filled_; }

 private:
  GrowingMemory copy_of_rest() const;

  std::size_t max_line_bytes_;
  GrowingMemory bytes_;
  std::size_t begin_ = 0;    // begin of the next line
  std::size_t scanned_ = 0;  // no line end before this
  std::size_t filled_ = 0;
};

}  // namespace proteus::net
