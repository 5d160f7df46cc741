#pragma once

#include <cstdint>
#include <cstring>

#include "base/secrets/sealing.hpp"

namespace proteus {

// Distinguishes processes that may each believe that they hold the same session. Each process draws its own number,
// which is part of every number that it issues for the session, so that what is addressed to one process means nothing
// to another. 0 if there is only one process. Small enough that a double has room for it and for a million numbers (RFC
// 8259, section 6).
using Epoch = std::uint32_t;

inline Epoch new_epoch() {
  for (;;) {
    Epoch drawn = 0;
    std::memcpy(&drawn, random_bytes(sizeof drawn).data(), sizeof drawn);
    drawn >>= 1U;
    if (drawn != 0) return drawn;
  }
}

// Returns the number after which the requests of this epoch are numbered.
constexpr std::uint64_t first_request_of(Epoch epoch) { return std::uint64_t{epoch} << 20U; }

}  // namespace proteus
