#pragma once

#include <cstdint>
#include <string_view>

namespace proteus::search {

// A word as it is looked up: the hash of its stem.
using Term = std::uint32_t;

// Returns the stem of a folded word by the rules of a language that the script suggests: English for Latin letters,
// Russian for Cyrillic ones and so on. Returns the word itself for other scripts. Valid until the next call on this
// thread.
std::string_view stem(std::string_view word);

Term term_of(std::string_view stem);

}  // namespace proteus::search
