#pragma once

#include <cstdint>

namespace proteus::catalog {

// How clients learn which tools exist.
enum class Disclosure : std::uint8_t {
  all,     // the list has all tools
  search,  // by searching; the list has only the tools to search with and a few others
};

}  // namespace proteus::catalog
