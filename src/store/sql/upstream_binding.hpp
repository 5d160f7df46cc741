#pragma once

#include <string>
#include <string_view>

namespace proteus::store::sql {

// What the secrets of an upstream are bound to. Part of the format: another text opens nothing.
inline std::string seal_binding(std::string_view upstream) {
  return "the secrets of upstream " + std::string(upstream);
}

}  // namespace proteus::store::sql
