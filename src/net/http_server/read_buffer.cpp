#include "net/http_server/read_buffer.hpp"

#include <cstring>

namespace proteus::net {

ReadBuffer& ReadBuffer::operator=(ReadBuffer&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(share_, other.share_);
  std::swap(capacity_, other.capacity_);
  std::swap(begin_, other.begin_);
  std::swap(end_, other.end_);
  return *this;
}

bool ReadBuffer::reserve(std::size_t total, ReadMemory* memory, Standing standing) {
  if (room() >= total) return true;
  const std::size_t held = size();
  if (capacity_ >= total) {
    std::memmove(memory_.get(), data(), held);
  } else {
    if (memory != nullptr && total > kInitial && !memory->grow(share_, total, standing)) return false;
    auto larger = std::make_shared_for_overwrite<char[]>(total + kSpare + kPadding);
    if (held > 0) std::memcpy(larger.get(), data(), held);
    memory_ = std::move(larger);
    capacity_ = total;
  }
  begin_ = 0;
  end_ = held;
  return true;
}

void ReadBuffer::consume(std::size_t count) {
  begin_ += count;
  if (begin_ < end_) return;
  begin_ = end_ = 0;
  if (capacity_ > kKept) release();
}

}  // namespace proteus::net
