#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace proteus::search {

// Whether a word is long enough for a slip in it to be told from another word, and its stem short enough to be
// compared.
bool may_be_misspelled(std::string_view word, std::string_view stem);

// A bit for each three neighbouring bytes of a word, its ends among them. Words that have few in common are no
// misspellings of one another, which this tells without looking at them.
std::uint64_t trigrams_of(std::string_view word);
bool share_trigrams(std::uint64_t a, std::uint64_t b, std::size_t slips);

// How many slips a word of this length may have.
std::size_t slips_in(std::string_view word);
// How many bytes are missing, added, changed or swapped between two words; more than `most` where it is more.
std::size_t slips_between(std::string_view a, std::string_view b, std::size_t most);

}  // namespace proteus::search
