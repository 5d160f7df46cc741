#pragma once

#include <cstdint>

// Constants for computing with eight bytes at a time, as one number.
namespace proteus::net {

inline constexpr std::uint64_t kEach = 0x0101010101010101;
inline constexpr std::uint64_t kHigh = 0x80 * kEach;

}  // namespace proteus::net
