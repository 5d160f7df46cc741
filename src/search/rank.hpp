#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/indexes.hpp"
#include "search/query.hpp"

namespace proteus::search {

struct Hit {
  std::uint32_t part;      // index into the searched parts
  std::uint32_t position;  // in that part's list of tools, as the caller sees it
  float score;             // comparable only with hits of the same search
};

// Returns the tools that fit best, the best first, at most `limit`. What is not visible counts neither as a hit nor for
// how rare a word is: the result is that of an index built from the visible tools alone. Tools that fit equally well
// are in the order of the parts and of their lists. A part gets at most three of four places, as long as other parts
// have hits. The cost is proportional to the number of tools that have a word of the query, and to the number of parts.
// A word without matches is also compared with visible words of the same first letter and a similar length, up to
// kMostCompared (meant.hpp). Telling which words are visible has a limit of its own, kMostLookedAt. Only beyond that
// one can words that are not visible matter: fewer corrections are found.
std::vector<Hit> rank(std::span<const Visible> parts, const Query& query, std::size_t limit, const Tuning& tuning = {});

// Combines several rankings into one by rank alone (reciprocal rank fusion).
std::vector<Hit> fuse(std::span<const std::vector<Hit>> rankings, std::size_t limit, float fusion);

}  // namespace proteus::search
