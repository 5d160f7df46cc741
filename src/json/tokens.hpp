#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::json {

// Walks a JSON text token by token over the structural index that simdjson's first stage builds, and checks
// the whole grammar on the way: what it has skipped is as certain to be JSON as what it has read. No tree is
// built.
//
// The index belongs to the thread; at most one Tokens may be alive per thread.
class Tokens {
 public:
  // Indexes the text. Fails on bad UTF-8, an unclosed string, a control character in one, or an empty text.
  static Result<Tokens> index(std::string_view text, std::size_t max_depth);

  // The first character of the current token; 0 at the end.
  char peek() const { return at_ < count_ ? text_[index_[at_]] : '\0'; }
  std::size_t position() const { return index_[at_]; }
  bool done() const { return at_ == count_; }
  // Just behind the last token that was stepped over, which must have been punctuation.
  std::size_t last_end() const { return index_[at_ - 1] + std::size_t{1}; }

  // Steps over a punctuation character; false, and no step, if the token is another.
  bool take(char punctuation) {
    if (peek() != punctuation) return false;
    ++at_;
    return true;
  }

  // Steps over one whole value and gives its text; empty where it is no value, and then `fault` says why.
  std::string_view take_value();
  // Steps over a string, and gives it with its quotes.
  std::string_view take_string();

  std::string_view fault() const { return fault_; }

 private:
  Tokens() = default;
  std::string_view take_scalar();
  bool skip_container();
  std::string_view token_text() const;
  std::string_view fail(std::string_view why) {
    fault_ = why;
    return {};
  }

  std::string_view text_;
  const std::uint32_t* index_ = nullptr;
  std::size_t count_ = 0;
  std::size_t at_ = 0;
  std::size_t max_depth_ = 0;
  std::string_view fault_;
};

}  // namespace proteus::json
