#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/indexes.hpp"
#include "search/query.hpp"

namespace proteus::search {

struct Hit {
  std::uint32_t part;      // which of the parts that were searched
  std::uint32_t position;  // in that part's list of tools, as the caller sees it
  float score;             // to compare hits of one search with
};

// The tools that fit best, the best first; at most so many. Nothing that is not visible counts, neither as a hit nor
// in how rare a word is: the result is that of an index built from the visible tools alone. Tools that fit equally
// well are in the order of the parts and of their lists. While others fit as well, one part gets at most three of four
// places. Costs time in proportion to the tools that have a word of the query, and to the number of parts.
std::vector<Hit> rank(std::span<const Visible> parts, const Query& query, std::size_t limit, const Tuning& tuning = {});

// One ranking out of several, by the ranks alone (reciprocal rank fusion).
std::vector<Hit> fuse(std::span<const std::vector<Hit>> rankings, std::size_t limit, float fusion);

}  // namespace proteus::search
