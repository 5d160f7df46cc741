#include "search/words.hpp"

#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace proteus::search {
namespace {

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_lower(char32_t c) { return !is_upper(c) && !is_digit(folded(c)); }

}  // namespace

Words::Character Words::character_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1, letter_of(lead)};
  const FirstCharacter first = first_character(text);
  if (first.bytes == 0) return {0, 1, Letter::none};
  return {first.character, first.bytes, letter_of(first.character)};
}

bool Words::next() {
  word_.clear();
  if (single_due_) {
    single_due_ = false;
    append_utf8(word_, dense_);
    shape_ = WordShape::single;
    return true;
  }
  while (!rest_.empty()) {
    const Character character = character_of(rest_);
    if (in_run_ && character.letter != Letter::word && character.letter != Letter::mark) {
      in_run_ = false;
      if (split_ && whole_.size() <= kLongest) {
        word_ = whole_;
        shape_ = WordShape::whole;
        return true;
      }
    }
    if (character.letter == Letter::word) {
      dense_ = 0;
      take_letters();
      return true;
    }
    rest_.remove_prefix(character.bytes);
    switch (character.letter) {
      case Letter::dense: take_dense(character); return true;
      case Letter::symbol:
        dense_ = 0;
        append_utf8(word_, character.code);
        shape_ = WordShape::symbol;
        return true;
      case Letter::mark: break;
      default: dense_ = 0;
    }
  }
  if (!in_run_) return false;
  in_run_ = false;
  word_ = whole_;
  shape_ = WordShape::whole;
  return split_ && whole_.size() <= kLongest;
}

void Words::take_dense(const Character& character) {
  const char32_t before = dense_;
  dense_ = folded(character.code);
  if (before != 0) append_utf8(word_, before);
  append_utf8(word_, dense_);
  shape_ = before != 0 ? WordShape::pair : WordShape::single;
  single_due_ = before != 0;
}

void Words::take_letters() {
  split_ = in_run_;
  if (!in_run_) whole_.clear();
  in_run_ = true;
  shape_ = WordShape::letters;
  char32_t before = 0;
  while (!rest_.empty()) {
    const Character character = character_of(rest_);
    if (character.letter != Letter::word && character.letter != Letter::mark) break;
    if (character.letter == Letter::word) {
      if (before != 0 && begins_word(before, character)) break;
      before = character.code;
      const std::size_t length = word_.size();
      append_utf8(word_, folded(before));
      if (whole_.size() <= kLongest) whole_.append(word_, length);
      if (word_.size() > kLongest) word_.resize(length);
    }
    rest_.remove_prefix(character.bytes);
  }
}

bool Words::begins_word(char32_t before, const Character& character) const {
  if (!is_upper(character.code)) return false;
  if (is_lower(before)) return true;  // getUser
  // HTTPServer and v2Api, but not IDs
  std::string_view behind = rest_.substr(character.bytes);
  if (behind.empty()) return false;
  const Character second = character_of(behind);
  if (second.letter != Letter::word || !is_lower(second.code)) return false;
  if (second.code != U's') return true;
  behind.remove_prefix(second.bytes);
  if (behind.empty()) return false;
  const Character third = character_of(behind);
  return third.letter == Letter::word && is_lower(third.code);
}

}  // namespace proteus::search
