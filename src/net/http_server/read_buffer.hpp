#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "net/http_server/read_memory.hpp"

namespace proteus::net {

// The bytes of a connection that were read and not consumed yet, contiguous and followed by readable padding. Grows
// only as bytes arrive, and releases its memory.
class ReadBuffer {
 public:
  // The size that each connection may have without accounting. A larger buffer is charged to the server's ReadMemory.
  static constexpr std::size_t kInitial = 4096;
  // A buffer larger than this is released once it is empty.
  static constexpr std::size_t kKept = 64UL * 1024;
  // Minimum space for requests that a client sends ahead while a response is being made.
  static constexpr std::size_t kSpare = 256;
  static constexpr std::size_t kPadding = 64;

  ReadBuffer() = default;
  ReadBuffer(ReadBuffer&& other) noexcept { *this = std::move(other); }
  ReadBuffer& operator=(ReadBuffer&& other) noexcept;

  char* data() { return memory_.get() + begin_; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  bool has_memory() const { return memory_ != nullptr; }
  // Returns an owner of the memory, which keeps the current bytes readable after the buffer is destroyed.
  std::shared_ptr<const void> hold() const { return memory_; }
  // Returns how many bytes fit from `data` on.
  std::size_t room() const { return capacity_ > begin_ ? capacity_ - begin_ : 0; }

  // Returns where the next bytes may be put; empty if full.
  std::span<char> space() { return {memory_.get() + end_, capacity_ > end_ ? capacity_ - end_ : 0}; }
  // Like `space`, with the spare bytes at the end, for a time in which nothing may move.
  std::span<char> spare() { return {memory_.get() + end_, memory_ ? capacity_ + kSpare - end_ : 0}; }
  void commit(std::size_t count) { end_ += count; }

  // Makes room for `total` bytes from `data` on. May move the bytes and invalidate all views. Returns false if the
  // budget of `standing` in `memory` is used up. Without `memory` there is no limit.
  [[nodiscard]] bool reserve(std::size_t total, ReadMemory* memory, Standing standing);

  bool is_charged_to(Standing standing) const { return share_.is_from(standing); }
  void charge_to(ReadMemory& memory, Standing standing) { memory.move(share_, standing); }

  void consume(std::size_t count);
  // Keeps only the first `size` bytes.
  void truncate(std::size_t size) { end_ = begin_ + size; }
  // Releases the memory, and drops the bytes in it.
  void release() { *this = ReadBuffer(); }

 private:
  std::shared_ptr<char[]> memory_;
  ReadMemory::Share share_;
  std::size_t capacity_ = 0;  // without spare bytes and padding
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace proteus::net
