#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "net/http/read_memory.hpp"

namespace proteus::net {

// The bytes of a connection that were read and not yet consumed, contiguous, with readable padding behind
// them. It grows only as bytes arrive, and gives its memory back.
class ReadBuffer {
 public:
  // A connection has this much without asking; what is larger comes out of the server's ReadMemory.
  static constexpr std::size_t kInitial = 4096;
  // More than this is given back once empty.
  static constexpr std::size_t kKept = 64UL * 1024;
  // What a client that does not wait for answers may send while one is being made, at least.
  static constexpr std::size_t kSpare = 256;
  static constexpr std::size_t kPadding = 64;

  ReadBuffer() = default;
  ReadBuffer(ReadBuffer&& other) noexcept { *this = std::move(other); }
  ReadBuffer& operator=(ReadBuffer&& other) noexcept;

  char* data() { return memory_.get() + begin_; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  bool has_memory() const { return memory_ != nullptr; }
  // Whoever has this may read what is here now, also after the buffer is gone.
  std::shared_ptr<const void> hold() const { return memory_; }
  // How many bytes fit from `data` on.
  std::size_t room() const { return capacity_ > begin_ ? capacity_ - begin_ : 0; }

  // Where the next bytes may be put; empty if full.
  std::span<char> space() { return {memory_.get() + end_, capacity_ > end_ ? capacity_ - end_ : 0}; }
  // The same with the spare bytes at the end, for a time in which nothing may move.
  std::span<char> spare() { return {memory_.get() + end_, memory_ ? capacity_ + kSpare - end_ : 0}; }
  void commit(std::size_t count) { end_ += count; }

  // Makes room for `total` bytes from `data` on. What is there may move: nobody may keep a view of it. False where
  // `memory` has no more for a caller of this standing; without `memory` there is no bound.
  [[nodiscard]] bool reserve(std::size_t total, ReadMemory* memory, Standing standing);

  void consume(std::size_t count);
  // Drops the last bytes.
  void truncate(std::size_t size) { end_ = begin_ + size; }
  // Gives the memory back; only while empty.
  void release() { *this = ReadBuffer(); }

 private:
  std::shared_ptr<char[]> memory_;
  ReadMemory::Share share_;
  std::size_t capacity_ = 0;  // without spare bytes and padding
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace proteus::net
