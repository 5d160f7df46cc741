#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <proteus/error.hpp>

#include "base/growing_memory.hpp"

namespace proteus::net {

// Collects bytes and gives them out line by line.
class LineBuffer {
 public:
  // Bytes that can be read after the end of every line, as simdjson asks for.
  static constexpr std::size_t kPadding = 64;

  explicit LineBuffer(std::size_t max_line_bytes) : max_line_bytes_(max_line_bytes) {}

  // Room for the next bytes; `commit` says how many were put there. Ends the life of lines given out.
  std::span<char> room();
  void commit(std::size_t count) { filled_ += count; }

  // The next line without its LF or CR LF, if a whole one is there; holds until `room` is called. A line that
  // is longer than allowed is an error, for good.
  Result<std::optional<std::string_view>> take_line();

  // Keeps the line that was given out last where it is, for longer than this.
  std::shared_ptr<const void> take_memory();

  // Whether bytes are left that belong to no whole line.
  bool has_partial_line() const { return filled_ > begin_; }
  void drop_partial_line() { begin_ = scanned_ = filled_; }

 private:
  GrowingMemory copy_of_rest() const;

  std::size_t max_line_bytes_;
  GrowingMemory bytes_;
  std::size_t begin_ = 0;    // of the line to come
  std::size_t scanned_ = 0;  // no line end before this
  std::size_t filled_ = 0;
};

}  // namespace proteus::net
