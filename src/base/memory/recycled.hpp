#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace proteus {

// An allocator for objects that each request needs, for std::allocate_shared. Each thread keeps the memory of a few
// destroyed objects and reuses the most recent, which is still in the CPU cache. With AddressSanitizer it keeps no
// memory, so that uses after destruction are found.
template <class T>
class Recycled {
 public:
  using value_type = T;

  Recycled() = default;
  template <class Other>
  Recycled(const Recycled<Other>& /*other*/) {}  // NOLINT(google-explicit-constructor): allocators are converted

  T* allocate(std::size_t count) {
    auto& kept = kept_here().places;
    if (count != 1 || kept.empty()) return std::allocator<T>().allocate(count);
    T* const place = kept.back();
    kept.pop_back();
    return place;
  }

  void deallocate(T* place, std::size_t count) {
    auto& kept = kept_here().places;
    if (count != 1 || kept.size() == kept.capacity()) return std::allocator<T>().deallocate(place, count);
    kept.push_back(place);
  }

  friend bool operator==(const Recycled& /*a*/, const Recycled& /*b*/) { return true; }

 private:
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
  static constexpr std::size_t kMost = 0;
#else
  static constexpr std::size_t kMost = 64;
#endif

  struct Kept {
    Kept() { places.reserve(kMost); }
    ~Kept() {
      for (T* const place : std::exchange(places, {}))
        std::allocator<T>().deallocate(place, 1);
    }
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    std::vector<T*> places;
  };

  static Kept& kept_here() {
    thread_local Kept kept;
    return kept;
  }
};

// Like std::make_shared, with recycled memory.
template <class T, class... Arguments>
std::shared_ptr<T> make_recycled(Arguments&&... arguments) {
  return std::allocate_shared<T>(Recycled<T>(), std::forward<Arguments>(arguments)...);
}

}  // namespace proteus
