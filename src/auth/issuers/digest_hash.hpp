#pragma once

#include <cstdint>
#include <cstring>
#include <random>

#include "json/canonical.hpp"

namespace proteus::auth {

// The hash of tables of digests. Untrusted peers choose the texts, and could search for texts whose digests share a
// bucket; they do not know the secret number that this hash mixes in.
struct DigestHash {
  std::size_t operator()(const json::Digest& digest) const {
    static const std::uint64_t secret = [] {
      std::random_device source;
      return (static_cast<std::uint64_t>(source()) << 32U) | source();
    }();
    std::uint64_t start = 0;
    std::memcpy(&start, digest.data(), sizeof start);
    return (start ^ secret) * 0x9E3779B97F4A7C15U;
  }
};

}  // namespace proteus::auth
