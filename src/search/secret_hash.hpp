#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>

#include "search/stem.hpp"

namespace proteus::search {

__extension__ using Wide = unsigned __int128;

// Hashes what untrusted upstreams choose, for hash tables. A random number of the process decides which words collide,
// so that nobody can choose colliding ones.
struct SecretHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the name that containers look for

  // A polynomial over the prime 2^61 - 1, at a random place.
  std::size_t operator()(std::string_view text) const {
    constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61U) - 1;
    const std::uint64_t place = secret();  // reading it checks each time whether it is initialized
    std::uint64_t hash = text.size();
    for (const char c : text) {
      const auto product = static_cast<Wide>(hash) * place + static_cast<unsigned char>(c) + 1;
      hash = (static_cast<std::uint64_t>(product) & kPrime) + static_cast<std::uint64_t>(product >> 61U);
      if (hash >= kPrime) hash -= kPrime;
    }
    return hash;
  }
  std::size_t operator()(Term term) const { return (secret() * term) >> 32U; }

 private:
  static std::uint64_t secret() {
    static const std::uint64_t number = [] {
      std::random_device source;
      return (std::uint64_t{source()} << 28U ^ source()) | 1U;
    }();
    return number;
  }
};

}  // namespace proteus::search
