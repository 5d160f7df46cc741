#include "search/spelling.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace proteus::search {
namespace {

constexpr std::size_t kShortest = 5;
constexpr std::size_t kShortestStem = 3;
constexpr std::size_t kShortestMeant = 4;
constexpr std::size_t kLongest = 24;

bool may_be_compared(std::string_view stem) {
  const auto is_letter = [](char c) { return c < '0' || c > '9'; };
  return stem.size() <= kLongest && std::ranges::all_of(stem, is_letter);
}

}  // namespace

bool may_be_misspelled(std::string_view word, std::string_view stem) {
  // A word of four letters only if it is its own stem.
  const bool is_long = word.size() >= kShortest ? stem.size() >= kShortestStem : word.size() == 4 && word == stem;
  return is_long && may_be_compared(stem);
}

bool may_be_meant(std::string_view stem) { return stem.size() >= kShortestMeant && may_be_compared(stem); }

std::uint64_t trigrams_of(std::string_view word) {
  std::uint64_t bits = 0;
  std::uint32_t last = 0;
  const auto add = [&](unsigned char c) {
    last = ((last << 8U) | c) & 0xFFFFFFU;
    bits |= std::uint64_t{1} << ((last * 0x9E3779B1U) >> 26U);
  };
  last = 0x5E;
  for (const char c : word)
    add(static_cast<unsigned char>(c));
  add('$');
  return bits;
}

bool share_trigrams(std::uint64_t a, std::uint64_t b, std::size_t slips) {
  // A swap of two letters changes four trigrams.
  const auto common = static_cast<std::size_t>(std::popcount(a & b));
  const auto fewer = static_cast<std::size_t>(std::min(std::popcount(a), std::popcount(b)));
  return common > 0 && common + 4 * slips >= fewer;
}

std::size_t slips_in(std::string_view word) { return word.size() < 8 ? 1 : 2; }

std::size_t slips_between(std::string_view a, std::string_view b, std::size_t most) {
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > most || a.size() > kLongest || b.size() > kLongest) return most + 1;
  using Row = std::array<std::uint8_t, kLongest + 1>;
  Row before{};
  Row last{};
  Row row{};
  std::iota(last.begin(), last.end(), std::uint8_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<std::uint8_t>(i);
    std::uint8_t least = row[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto changed = static_cast<std::uint8_t>(last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
      const auto missing = static_cast<std::uint8_t>(std::min(last[j], row[j - 1]) + 1);
      row[j] = std::min(changed, missing);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min<std::uint8_t>(row[j], static_cast<std::uint8_t>(before[j - 2] + 1));
      }
      least = std::min(least, row[j]);
    }
    if (least > most) return most + 1;
    before = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace proteus::search
