#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "search/letters.hpp"

namespace proteus::search {

enum class WordShape : std::uint8_t {
  letters,
  whole,   // several words of letters written as one: `github`, after `git` and `hub`, for GitHub
  single,  // one character of a script without spaces
  pair,    // two neighbouring characters of such a script
  symbol,
};

// Iterates over the words of a text or an identifier in any script, folded. Takes time in proportion to the text,
// whatever the text is. Bytes that are not UTF-8 separate words.
class Words {
 public:
  // In bytes; longer words are cut.
  static constexpr std::size_t kLongest = 48;

  explicit Words(std::string_view text) : rest_(text) {}

  // Goes to the next word; returns false if there is none.
  bool next();
  // Valid until the next call of `next`.
  std::string_view word() const { return word_; }
  WordShape shape() const { return shape_; }

 private:
  struct Character {
    char32_t code = 0;
    std::size_t bytes = 0;
    Letter letter = Letter::none;
  };
  static Character character_of(std::string_view text);

  void take_dense(const Character& character);
  void take_letters();
  // Returns whether a new word begins at `character`, which directly follows `before`.
  bool begins_word(char32_t before, const Character& character) const;

  std::string_view rest_;
  std::string word_;
  WordShape shape_ = WordShape::letters;
  std::string whole_;    // the current run of letters so far
  bool in_run_ = false;  // whether the next letters continue the run
  bool split_ = false;   // whether the run has more than one word
  char32_t dense_ = 0;   // the preceding character, if its script has no spaces
  bool single_due_ = false;
};

}  // namespace proteus::search
