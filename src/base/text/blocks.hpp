#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

// Searches text sixteen bytes at a time.
namespace proteus::blocks {

static_assert(std::endian::native == std::endian::little);

using Block = unsigned char __attribute__((vector_size(16)));
using Pairs = unsigned short __attribute__((vector_size(16)));
using Halves = unsigned char __attribute__((vector_size(8)));

[[gnu::always_inline]] inline Block at(const char* place) {
  Block block;
  std::memcpy(&block, place, sizeof block);
  return block;
}

// Evaluates `is` for a block. `is(byte)` must be a condition without branches that works for one byte and for a block
// of bytes.
template <class Is>
[[gnu::always_inline]] inline Block found_in(const char* place, Is is) {
  return static_cast<Block>(is(at(place)));
}

// Returns four bits for each byte of a block, set for the bytes that were found; the lowest bits belong to the first
// byte.
[[gnu::always_inline]] inline std::uint64_t marks_of(Block found) {
  return std::bit_cast<std::uint64_t>(__builtin_convertvector((Pairs)found >> 4, Halves));
}

[[gnu::always_inline]] inline const char* first_of(std::uint64_t marks, const char* block) {
  return block + (std::countr_zero(marks) / 4);
}

// Whether all bytes are ASCII.
[[gnu::always_inline]] inline bool are_ascii(const char* place, const char* end) {
  const char* const begin = place;
  Block any{};
  for (; end - place >= 64; place += 64)
    any |= (at(place) | at(place + 16)) | (at(place + 32) | at(place + 48));
  for (; end - place >= 16; place += 16)
    any |= at(place);
  if (end - begin >= 16) return __builtin_reduce_max(any | at(end - 16)) < 0x80;
  unsigned char rest = 0;
  for (; place < end; ++place)
    rest |= static_cast<unsigned char>(*place);
  return rest < 0x80;
}

// Returns the first byte that satisfies `is`, or `end`. `may(a, b, c, d)` tests four blocks at once and may report
// bytes that do not satisfy `is`, but must not miss any that do.
template <class Is, class May>
[[gnu::always_inline]] inline const char* find(const char* place, const char* end, Is is, May may) {
  const char* const begin = place;
  const auto in_blocks = [&](const char* stop) {
    for (; stop - place >= 16; place += 16) {
      if (const std::uint64_t marks = marks_of(found_in(place, is))) {
        place = first_of(marks, place);
        return true;
      }
    }
    return false;
  };
  if (in_blocks(end - place > 32 ? place + 32 : end)) return place;
  while (end - place >= 64) {
    if (marks_of(may(at(place), at(place + 16), at(place + 32), at(place + 48))) == 0) {
      place += 64;
    } else if (in_blocks(place + 64)) {
      return place;
    }
  }
  if (in_blocks(end)) return place;
  if (end - begin >= 16) {
    // The last sixteen bytes: the rest, preceded by bytes that were already searched.
    const std::uint64_t marks = place < end ? marks_of(found_in(end - 16, is)) : 0;
    return marks != 0 ? first_of(marks, end - 16) : end;
  }
  while (place < end && !is(static_cast<unsigned char>(*place)))
    ++place;
  return place;
}

template <class Is>
[[gnu::always_inline]] inline const char* find(const char* place, const char* end, Is is) {
  return find(place, end, is,
              [is](Block a, Block b, Block c, Block d) { return static_cast<Block>(is(a) | is(b) | is(c) | is(d)); });
}

}  // namespace proteus::blocks
