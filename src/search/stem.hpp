#pragma once

#include <cstdint>
#include <string_view>

namespace proteus::search {

// A word as it is looked up: a hash of its stem.
using Term = std::uint32_t;

// The stem of a folded word by the rules of the language that its script suggests: English for Latin letters, Russian
// for Cyrillic ones and so on; the word itself for other scripts. Valid until the next call on this thread.
std::string_view stem(std::string_view word);

Term term_of(std::string_view stem);

}  // namespace proteus::search
