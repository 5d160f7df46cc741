#include "base/memory/growing_memory.hpp"

#include <cstring>
#include <limits>
#include <new>

#include <sys/mman.h>

namespace proteus {
namespace {

constexpr std::size_t kPage = 4096;

// Rounds up to whole pages, because the kernel maps only whole pages.
std::size_t whole_pages(std::size_t size) {
  if (size > std::numeric_limits<std::size_t>::max() - kPage) throw std::bad_alloc();
  return (size + kPage - 1) / kPage * kPage;
}

char* checked(void* pages) {
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(pages);
}

}  // namespace

void GrowingMemory::grow(std::size_t size, std::size_t kept) {
  if (size <= size_) return;
  if (size < kOwnPages) {
    char* const larger = new char[size];
    if (kept > 0) std::memcpy(larger, data_, kept);
    release();
    data_ = larger;
    size_ = size;
    return;
  }
  const std::size_t pages = whole_pages(size);
  if (size_ >= kOwnPages) {
    data_ = checked(::mremap(data_, size_, pages, MREMAP_MAYMOVE));
  } else {
    char* const mapped =
        checked(::mmap(nullptr, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (kept > 0) std::memcpy(mapped, data_, kept);
    release();
    data_ = mapped;
  }
  size_ = pages;
}

void GrowingMemory::release() {
  if (size_ >= kOwnPages) {
    ::munmap(data_, size_);
  } else {
    delete[] data_;
  }
  data_ = nullptr;
  size_ = 0;
}

}  // namespace proteus
