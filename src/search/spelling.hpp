#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace proteus::search {

// Returns whether a word of a query is long enough to tell a slip from another word, and its stem short enough to be
// compared.
bool may_be_misspelled(std::string_view word, std::string_view stem);
// Returns whether a misspelled word may have meant one with this stem. Depends on the stem alone: which of its words an
// index has may depend on tools that a caller does not see.
bool may_be_meant(std::string_view stem);

// A Bloom filter of the trigrams of a word, including its beginning and end. `share_trigrams` returns false if words
// have too few trigrams in common to be misspellings of each other; this is cheaper than comparing the words.
std::uint64_t trigrams_of(std::string_view word);
bool share_trigrams(std::uint64_t a, std::uint64_t b, std::size_t slips);

// Returns how many slips a word of this length may have.
std::size_t slips_in(std::string_view word);
// Returns how many bytes are missing, added, changed or swapped between two words; some number above `most` if there
// are more than `most`.
std::size_t slips_between(std::string_view a, std::string_view b, std::size_t most);

}  // namespace proteus::search
