#include "net/read_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace proteus::net {

void ReadBuffer::reserve(std::size_t total, Request& follows) {
  const std::size_t room = capacity_ - begin_;
  const std::size_t wanted = std::min(total, std::max(kKept, 2 * size()));
  if (room >= wanted) return;
  const std::size_t held = size();
  if (capacity_ >= wanted) {
    follows.rebase(data(), memory_.get());
    std::memmove(memory_.get(), data(), held);
  } else {
    auto larger = std::make_unique_for_overwrite<char[]>(wanted + Request::kBodyPadding);
    if (held > 0) {
      std::memcpy(larger.get(), data(), held);
      follows.rebase(data(), larger.get());
    }
    memory_ = std::move(larger);
    capacity_ = wanted;
  }
  begin_ = 0;
  end_ = held;
}

void ReadBuffer::consume(std::size_t count) {
  begin_ += count;
  if (begin_ < end_) return;
  begin_ = end_ = 0;
  if (capacity_ > kKept) release();
}

void ReadBuffer::release() {
  memory_.reset();
  capacity_ = begin_ = end_ = 0;
}

}  // namespace proteus::net
