#pragma once

#include <string>
#include <string_view>

namespace proteus::store::sql {

// The binding of an upstream's secrets. Part of the format: with another text nothing can be opened.
inline std::string seal_binding(std::string_view upstream) {
  return "the secrets of upstream " + std::string(upstream);
}

}  // namespace proteus::store::sql
