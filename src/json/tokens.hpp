#pragma once

#include <cstddef>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::json {

class UniqueKeys;

// Reads a JSON text token by token and checks the whole grammar, also of the values that it skips. Builds neither a
// tree nor an index: a message is read once, and most of it is the content of strings, which is scanned sixteen bytes
// at a time. Does not own the text.
class Tokens {
 public:
  // The upper bound of `max_depth`.
  static constexpr std::size_t kDeepest = 1024;

  // Starts at the first token. Fails if the text is not valid UTF-8 or has no token.
  static Result<Tokens> of(std::string_view text, std::size_t max_depth);

  // Returns the first character of the current token; 0 at the end.
  char peek() const { return at_ < end_ ? *at_ : '\0'; }
  // The place of the current token.
  const char* position() const { return at_; }
  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
  bool done() const { return at_ == end_; }
  // The end of the last token that was taken, before any white space.
  const char* last_end() const { return last_end_; }

  // Takes a punctuation character. Returns false and takes nothing if the current token is another one.
  bool take(char punctuation) {
    if (peek() != punctuation) return false;
    step_behind(at_ + 1);
    return true;
  }

  // Count the depth of an object or array that the caller reads itself. `enter` takes the opening bracket and fails if
  // the nesting is too deep; `leave` must be called after the closing bracket.
  bool enter(char opener);
  void leave() { --depth_; }

  // Takes one whole value and returns its text. Returns empty text if there is no valid value; `fault` has the reason.
  std::string_view take_value() { return peek() == '"' ? take_string() : take_other_value(); }
  // Takes a value, but also fails if an object at any depth in it has a duplicate key.
  std::string_view take_value(UniqueKeys& keys);
  // Takes a key and its colon, and returns the key with its quotes; empty for a fault.
  std::string_view take_key();
  // Whether the last key may have escapes.
  bool escaped() const { return escaped_; }

  std::string_view fault() const { return fault_; }
  // Whether the fault is that the text is nested deeper than allowed. The text may still be valid JSON.
  bool too_deep() const { return too_deep_; }

 private:
  Tokens(std::string_view text, std::size_t max_depth)
      : begin_(text.data()), end_(text.data() + text.size()), max_depth_(max_depth) {}
  std::string_view take_string();
  std::string_view take_other_value();
  template <class Watch>
  std::string_view take_other_value(Watch& watch);
  template <class Watch>
  bool skip_container(Watch& watch);
  void step_behind(const char* token_end) {
    at_ = last_end_ = token_end;
    if (at_ == end_ || *at_ <= ' ') step_over_space();
  }
  void step_over_space();
  bool fail(std::string_view why) {
    fault_ = why;
    return false;
  }
  bool fail_too_deep();

  const char* begin_;
  const char* end_;
  const char* at_ = nullptr;
  const char* last_end_ = nullptr;
  std::size_t depth_ = 0;
  std::size_t max_depth_;
  std::string_view fault_;
  bool too_deep_ = false;
  bool escaped_ = false;
};

}  // namespace proteus::json
