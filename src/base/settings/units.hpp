#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/strong.hpp"

// Durations and sizes as people write them. What is written here is read back as the same value.
namespace proteus {

using ByteSize = Strong<std::uint64_t, struct ByteSizeTag>;

inline ByteSize kibibytes(std::uint64_t count) { return ByteSize(count << 10U); }
inline ByteSize mebibytes(std::uint64_t count) { return ByteSize(count << 20U); }

// Parses whole numbers with the units d, h, m, s and ms, the largest first: "5m", "200ms", "1h30m". Zero needs a unit,
// too. At most ten years.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);
std::string write_duration(std::chrono::milliseconds duration);

// Parses a whole number with one of the units B, KiB, MiB and GiB: "16KiB". At most 1024 GiB.
Result<ByteSize> parse_size(std::string_view text);
std::string write_size(ByteSize size);

}  // namespace proteus
