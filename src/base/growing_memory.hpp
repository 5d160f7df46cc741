#pragma once

#include <cstddef>
#include <utility>

namespace proteus {

// Memory for bytes that are still arriving, of which nobody knows how many. Where they are many it has pages of its
// own, which the kernel moves instead of copying them: a long message takes no longer per byte than a short one, and
// none of its steps takes long. Move-only; `data` stays where it is when this is moved.
class GrowingMemory {
 public:
  // From so many bytes on it has its own pages.
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

  // Has at least `size` bytes then, of which the first `kept` are what they were. Never less than before.
  void grow(std::size_t size, std::size_t kept);

 private:
  void swap(GrowingMemory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  void release();

  char* data_ = nullptr;
  std::size_t size_ = 0;  // at least kOwnPages: these are pages
};

}  // namespace proteus
