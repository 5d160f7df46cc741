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
  // Whatever a caller allows, no text may nest deeper than this.
  static constexpr std::size_t kDeepest = 1024;
  static constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  // Indexes the text. Fails on bad UTF-8, an unclosed string, a control character in one, or an empty text.
  static Result<Tokens> index(std::string_view text, std::size_t max_depth);

  // The first character of the current token; 0 at the end.
  char peek() const { return at_ < count_ ? text_[index_[at_]] : '\0'; }
  std::size_t position() const { return done() ? text_.size() : index_[at_]; }
  bool done() const { return at_ == count_; }
  // Just behind the last token that was stepped over, which must have been punctuation.
  std::size_t last_end() const { return index_[at_ - 1] + std::size_t{1}; }

  // Steps over a punctuation character; false, and no step, if the token is another.
  bool take(char punctuation) {
    if (peek() != punctuation) return false;
    ++at_;
    return true;
  }

  // Steps into an object or array that the caller reads itself, and out of it again, so that its depth
  // counts.
  bool enter(char opener);
  void leave() { --depth_; }

  // Steps over one whole value and gives its text; empty where it is no value, and then `fault` says why.
  std::string_view take_value() { return peek() == '"' ? take_string() : take_other_value(); }
  // Steps over a key and its colon, and gives the key with its quotes; empty where it is none.
  std::string_view take_key() {
    if (at_ + 1 >= count_ || text_[index_[at_]] != '"' || text_[index_[at_ + 1]] != ':') [[unlikely]] {
      fail(peek() == '"' ? "a colon is expected after a key" : "a string is expected");
      return {};
    }
    const std::string_view key = take_string();
    ++at_;
    return key;
  }
  // Whether the key taken last may hold escapes.
  bool escaped() const { return escaped_; }

  std::string_view fault() const { return fault_; }
  // Whether the fault is that the text nests deeper than allowed; it may well be JSON then.
  bool too_deep() const { return too_deep_; }

 private:
  Tokens() = default;
  std::string_view take_string() {
    const std::size_t begin = index_[at_];
    const std::size_t end = token_end();
    escaped_ = next_backslash_ < end;
    if (escaped_ && !check_escapes()) return {};
    ++at_;
    return trimmed(begin, end);
  }
  std::string_view take_other_value();
  bool skip_container();
  bool check_escapes();
  std::size_t token_end() const { return at_ + 1 < count_ ? index_[at_ + 1] : text_.size(); }
  // A token's text, without the white space that may follow it.
  std::string_view trimmed(std::size_t begin, std::size_t end) const {
    while (is_space(text_[end - 1]))
      --end;
    return text_.substr(begin, end - begin);
  }
  bool fail(std::string_view why) {
    fault_ = why;
    return false;
  }
  bool fail_too_deep();

  std::string_view text_;
  const std::uint32_t* index_ = nullptr;
  std::size_t count_ = 0;
  std::size_t at_ = 0;
  std::size_t next_backslash_ = 0;  // no backslash stands between the current token and this position
  std::size_t depth_ = 0;
  std::size_t max_depth_ = 0;
  std::string_view fault_;
  bool too_deep_ = false;
  bool escaped_ = false;
};

}  // namespace proteus::json
