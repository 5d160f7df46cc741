#pragma once

#include <cstdint>

namespace proteus::catalog {

// How somebody gets to know the tools there are.
enum class Disclosure : std::uint8_t {
  all,     // by the list
  search,  // by searching; the list has what it takes to search, and a few others
};

}  // namespace proteus::catalog
