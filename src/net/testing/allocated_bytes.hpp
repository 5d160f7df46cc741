#pragma once

#include <cstddef>

#include <malloc.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#include <sanitizer/allocator_interface.h>
#endif

namespace proteus::net::test {

// Returns how much memory this program has allocated.
inline std::size_t allocated_bytes() {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return __sanitizer_get_current_allocated_bytes();
#else
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

}  // namespace proteus::net::test
