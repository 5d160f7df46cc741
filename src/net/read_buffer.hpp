#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "net/request.hpp"

namespace proteus::net {

// The bytes of a connection that were read and not yet consumed, contiguous, with readable padding behind
// them. It grows only as bytes arrive, and gives its memory back.
class ReadBuffer {
 public:
  static constexpr std::size_t kInitial = 4096;
  // More than this is given back once empty; up to this it grows before the bytes are there.
  static constexpr std::size_t kKept = 64UL * 1024;

  char* data() { return memory_.get() + begin_; }
  const char* data() const { return memory_.get() + begin_; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }

  // Where the next bytes may be put; empty if full.
  std::span<char> space() { return {memory_.get() + end_, capacity_ - end_}; }
  void commit(std::size_t count) { end_ += count; }

  // Makes space towards `total` bytes from `data`; at least for one more if it is full and `total` is larger
  // than its size. What is there may move, and `follows` with it.
  void reserve(std::size_t total, Request& follows);

  void consume(std::size_t count);
  // Drops the last bytes.
  void truncate(std::size_t size) { end_ = begin_ + size; }
  // Gives the memory back; only while empty.
  void release();

 private:
  std::unique_ptr<char[]> memory_;
  std::size_t capacity_ = 0;  // without the padding
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace proteus::net
