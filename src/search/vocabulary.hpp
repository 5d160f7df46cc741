#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "search/stem.hpp"

namespace proteus::search {

// Returns whether a folded word says nothing about what a tool does.
bool is_stop_word(std::string_view word);

// Words that tools use for the same thing, including the word itself.
struct Synonyms {
  std::vector<Term> stems;
  std::vector<Term> words;  // the same words, not stemmed
  bool abbreviations;       // short and long forms of one word, not different words
};
// Returns the groups that contain a word, given its stem.
std::span<const std::shared_ptr<const Synonyms>> synonyms_of(std::string_view stem);

}  // namespace proteus::search
