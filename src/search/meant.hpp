#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "search/query.hpp"
#include "search/sources.hpp"

namespace proteus::search {

// How much work the words without matches of a query may cause; about a nanosecond each. An upstream that lists very
// many words must neither delay searches nor use up what the words of others need.
inline constexpr std::size_t kMostCompared = 4'000'000;
inline constexpr std::size_t kMostComparedAtOne = 60'000;  // for one word in one index
inline constexpr std::size_t kMostLookedAt = 4'000'000;
inline constexpr std::size_t kMostLookedAtOne = 500'000;

// What is left of that work. Comparing counts only words that the caller sees, so that hidden words use up none of it.
struct WorkLeft {
  std::size_t comparing = kMostCompared;
  std::size_t looking = kMostLookedAt;  // for words that are visible and roughly similar
};

// Returns the terms that a word without matches probably meant: of the visible words with the fewest slips, at most a
// few, the most frequent first. Subtracts its work from `left`.
std::vector<Query::Alternative> meant_by(std::string_view word, const Sources& sources, float weight, WorkLeft& left);

}  // namespace proteus::search
