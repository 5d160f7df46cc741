#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/memory/growing_memory.hpp"

namespace proteus {

// Text that arrives piece by piece and may become long; see GrowingMemory. Views are valid until the text is changed.
class GrowingText {
 public:
  GrowingText() = default;
  GrowingText(GrowingText&& other) noexcept : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  GrowingText& operator=(GrowingText&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::string_view view() const { return {memory_.data(), size_}; }
  const char* data() const { return memory_.data(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // `text` must not point into this object.
  void append(std::string_view text) {
    if (text.empty()) return;
    if (text.size() > memory_.size() - size_) memory_.grow(std::max(2 * memory_.size(), size_ + text.size()), size_);
    std::memcpy(memory_.data() + size_, text.data(), text.size());
    size_ += text.size();
  }
  void assign(std::string_view text) {
    size_ = 0;
    append(text);
  }
  // Keeps the memory, unless it is larger than `most` bytes.
  void clear(std::size_t most) {
    size_ = 0;
    if (memory_.size() > most) memory_ = {};
  }

 private:
  GrowingMemory memory_;
  std::size_t size_ = 0;
};

}  // namespace proteus
