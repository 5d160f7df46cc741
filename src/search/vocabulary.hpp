#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "search/stem.hpp"

namespace proteus::search {

// Whether a folded word says nothing about what a tool does.
bool is_stop_word(std::string_view word);

// Words that tools use for the same, the word itself among them.
struct Synonyms {
  std::vector<Term> stems;
  std::vector<Term> words;  // the same ones, as they are written
  bool abbreviations;       // one word written shorter, and not another one
};
// The groups that a word is in, by its stem.
std::span<const std::shared_ptr<const Synonyms>> synonyms_of(std::string_view stem);

}  // namespace proteus::search
