#pragma once

#include <cstdint>
#include <cstring>

#include "base/sealing.hpp"

namespace proteus {

// Who has something, among several processes that could believe to have it: a number that each draws for itself, and
// that is in all numbers it gives away, so that what is meant for one of them means nothing to another. 0 where there
// is one process. So small that a double has room for it and for a million numbers (RFC 8259, 6).
using Epoch = std::uint32_t;

inline Epoch new_epoch() {
  for (;;) {
    Epoch drawn = 0;
    std::memcpy(&drawn, random_bytes(sizeof drawn).data(), sizeof drawn);
    drawn >>= 1U;
    if (drawn != 0) return drawn;
  }
}

// Requests of an owner are numbered from behind this.
constexpr std::uint64_t first_request_of(Epoch epoch) { return std::uint64_t{epoch} << 20U; }

}  // namespace proteus
