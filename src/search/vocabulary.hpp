#pragma once

#include <span>
#include <string_view>

namespace proteus::search {

// Whether a folded word says nothing about what a tool does.
bool is_stop_word(std::string_view word);

// Words that tools use for the same, as they are written, the word itself among them; empty where there are none.
struct Synonyms {
  std::span<const std::string_view> words;
  bool abbreviations = false;  // the same word written shorter, not another one
};
// Of a folded word or of its stem. A word may be in several groups; `each` gets them one by one.
std::span<const Synonyms> synonyms_of(std::string_view stem);

}  // namespace proteus::search
