#pragma once

#include <string_view>
#include <vector>

#include "search/query.hpp"
#include "search/sources.hpp"

namespace proteus::search {

// The words that were probably meant by one that nothing has: those of the fewest slips that something visible has, at
// most a few, the most frequent first.
std::vector<Query::Alternative> meant_by(std::string_view word, const Sources& sources, float weight);

}  // namespace proteus::search
