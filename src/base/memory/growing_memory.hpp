#pragma once

#include <cstddef>
#include <utility>

namespace proteus {

// Memory for bytes that are still arriving and whose number is unknown. Large memory consists of dedicated pages, which
// the kernel moves instead of copying them: a long message takes no longer per byte than a short one, and no single
// step takes long. Move-only; `data` stays valid when the object is moved.
class GrowingMemory {
 public:
  // The size from which the memory consists of dedicated pages.
  static constexpr std::size_t kOwnPages = std::size_t{256} << 10U;

  GrowingMemory() = default;
  GrowingMemory(GrowingMemory&& other) noexcept { swap(other); }
  GrowingMemory& operator=(GrowingMemory&& other) noexcept {
    GrowingMemory taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~GrowingMemory() { release(); }

  char* data() { return data_; }
  const char* data() const { return data_; }
  std::size_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }

  // Grows to at least `size` bytes and keeps the first `kept` bytes. Never shrinks.
  void grow(std::size_t size, std::size_t kept);

 private:
  void swap(GrowingMemory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  void release();

  char* data_ = nullptr;
  std::size_t size_ = 0;  // from kOwnPages on, `data_` points to dedicated pages
};

}  // namespace proteus
