#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "search/letters.hpp"

namespace proteus::search {

enum class WordShape : std::uint8_t {
  letters,
  whole,   // several words of letters that were written as one: `github`, behind `git` and `hub`, for GitHub
  single,  // one character of a script without spaces
  pair,    // two neighbours of such a script
  symbol,
};

// The words of a text or of an identifier in any script, folded, one after the other. Takes time in proportion to the
// text, whatever the text is; bytes that are not UTF-8 are between words.
class Words {
 public:
  // In bytes. A longer word is cut.
  static constexpr std::size_t kLongest = 48;

  explicit Words(std::string_view text) : rest_(text) {}

  // Whether there is one more.
  bool next();
  // Until the next call.
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
  // Whether a new word begins at the character, which comes after `before` without anything between.
  bool begins_word(char32_t before, const Character& character) const;

  std::string_view rest_;
  std::string word_;
  WordShape shape_ = WordShape::letters;
  std::string whole_;    // of a run of letters so far
  bool in_run_ = false;  // the next letters continue it
  bool split_ = false;   // it has more than one word
  char32_t dense_ = 0;   // the neighbour in front, of a script without spaces
  bool single_due_ = false;
};

}  // namespace proteus::search
