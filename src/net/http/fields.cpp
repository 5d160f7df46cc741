#include "net/http/fields.hpp"

#include <algorithm>
#include <cstring>

#include "net/http/eight_bytes.hpp"

namespace proteus::net {
namespace {

constexpr std::uint64_t kCase = 0x20 * kEach;

// Whether eight bytes are equal except for the case of letters.
constexpr bool same_but_case(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t different = a ^ b;
  if (different == 0) return true;
  if ((different & ~kCase) != 0) return false;
  const std::uint64_t lower = a | kCase;
  const std::uint64_t from_a = (lower & ~kHigh) + (0x80 - 'a') * kEach;
  const std::uint64_t behind_z = (lower & ~kHigh) + (0x80 - 'z' - 1) * kEach;
  const std::uint64_t letters = from_a & ~behind_z & ~lower & kHigh;
  return ((different << 2U) & ~letters) == 0;
}

template <class Word>
std::uint64_t load(const char* from) {
  Word bytes = 0;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

// Loads a text of fewer than eight bytes; some bytes may be loaded twice.
std::uint64_t load_short(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  if (text.size() >= 4) return load<std::uint32_t>(begin) | (load<std::uint32_t>(end - 4) << 32U);
  if (text.empty()) return 0;
  const char* const middle = begin + (text.size() / 2);
  return load<std::uint8_t>(begin) | (load<std::uint8_t>(middle) << 8U) | (load<std::uint8_t>(end - 1) << 16U);
}

}  // namespace

bool same_field_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  using Word = std::uint64_t;
  if (a.size() < sizeof(Word)) return same_but_case(load_short(a), load_short(b));
  for (std::size_t at = 0; at + sizeof(Word) < a.size(); at += sizeof(Word)) {
    if (!same_but_case(load<Word>(a.data() + at), load<Word>(b.data() + at))) return false;
  }
  const std::size_t last = a.size() - sizeof(Word);
  return same_but_case(load<Word>(a.data() + last), load<Word>(b.data() + last));
}

void Fields::make_room() { fields_.resize(std::max<std::size_t>(16, 2 * fields_.size())); }

}  // namespace proteus::net
