#pragma once

#include <cstddef>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::json {

class UniqueKeys;

// Walks a JSON text token by token, and checks the whole grammar on the way: what it has skipped is as certain to be
// JSON as what it has read. No tree is built, and no index: a message is read once, and most of it is the inside of
// strings, which sixteen bytes at a time take the least.
class Tokens {
 public:
  // Whatever a caller allows, no text may nest deeper than this.
  static constexpr std::size_t kDeepest = 1024;

  // Stands at the first token. Fails on bad UTF-8 or an empty text.
  static Result<Tokens> of(std::string_view text, std::size_t max_depth);

  // The first character of the current token; 0 at the end.
  char peek() const { return at_ < end_ ? *at_ : '\0'; }
  // Where that is.
  const char* position() const { return at_; }
  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
  bool done() const { return at_ == end_; }
  // Just behind the last token that was stepped over.
  const char* last_end() const { return last_end_; }

  // Steps over a punctuation character; false, and no step, if the token is another.
  bool take(char punctuation) {
    if (peek() != punctuation) return false;
    step_behind(at_ + 1);
    return true;
  }

  // Steps into an object or array that the caller reads itself, and out of it again, so that its depth
  // counts.
  bool enter(char opener);
  void leave() { --depth_; }

  // Steps over one whole value and gives its text; empty where it is no value, and then `fault` says why.
  std::string_view take_value() { return peek() == '"' ? take_string() : take_other_value(); }
  // The same, where objects at any depth may have no key twice.
  std::string_view take_value(UniqueKeys& keys);
  // Steps over a key and its colon, and gives the key with its quotes; empty where it is none.
  std::string_view take_key();
  // Whether the key taken last may hold escapes.
  bool escaped() const { return escaped_; }

  std::string_view fault() const { return fault_; }
  // Whether the fault is that the text nests deeper than allowed; it may well be JSON then.
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
