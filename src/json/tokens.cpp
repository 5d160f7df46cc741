#include "json/tokens.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <simdjson.h>

#include "base/text/blocks.hpp"
#include "json/text.hpp"
#include "json/unique_keys.hpp"

namespace proteus::json {
namespace {

constexpr std::string_view kNotClosed = "a string is not closed";
constexpr std::string_view kControl = "a string holds a control character that is not escaped";
constexpr std::string_view kBadEscape = "a string holds an invalid escape";
constexpr std::string_view kNoValue = "a value is expected";
constexpr std::string_view kNoString = "a string is expected";
constexpr std::string_view kKeyTwice = "an object has a key twice";
constexpr std::string_view kNoColon = "a colon is expected after a key";

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Whether the byte ends a run of plain characters in a string.
constexpr auto kSpecial = [](auto byte) { return (byte == '"') | (byte == '\\') | (byte < 0x20); };

const char* next_special(const char* at, const char* end) { return blocks::find(at, end, kSpecial); }

[[gnu::always_inline]] inline const char* skip_space(const char* at, const char* end) {
  if (at < end && *at > ' ') [[likely]]
    return at;
  while (at < end && is_space(*at))
    ++at;
  return at;
}

// Whether the letter completes an escape after a backslash.
constexpr bool is_short_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return true;
    default: return false;
  }
}

// Escapes come in groups, so checking the next few bytes first is faster than a search by blocks.
const char* next_special_nearby(const char* at, const char* end) {
  constexpr std::ptrdiff_t kNear = 8;
  const char* const near = end - at > kNear ? at + kNear : end;
  for (; at < near; ++at) {
    if (kSpecial(static_cast<unsigned char>(*at))) return at;
  }
  return next_special(at, end);
}

// Returns the place after the closing quote; null for a fault. All bytes of the string before `at` are plain.
[[gnu::noinline]] const char* end_of_long_string(const char* at, const char* end, bool& escaped) {
  const char* first_unicode = nullptr;
  escaped = false;
  while (true) {
    at = escaped ? next_special_nearby(at, end) : next_special(at, end);
    if (at >= end) return nullptr;
    if (*at == '"') break;
    if (*at != '\\' || end - at < 2) return nullptr;
    escaped = true;
    if (!is_short_escape(at[1])) {
      if (at[1] != 'u') return nullptr;
      if (first_unicode == nullptr) first_unicode = at;
    }
    at += 2;
  }
  if (first_unicode != nullptr && !valid_escapes({first_unicode, at})) return nullptr;
  return at + 1;
}

// Returns the place after the closing quote of the string whose opening quote is at `opening`; null for a fault. Most
// strings are short and plain.
[[gnu::always_inline]] inline const char* end_of_string(const char* opening, const char* end, bool& escaped) {
  const char* at = opening + 1;
  if (end - at >= 16) [[likely]] {
    const std::uint64_t marks = blocks::marks_of(blocks::found_in(at, kSpecial));
    at = marks != 0 ? blocks::first_of(marks, at) : at + 16;
    if (marks != 0 && *at == '"') [[likely]] {
      escaped = false;
      return at + 1;
    }
  }
  return end_of_long_string(at, end, escaped);
}

// Returns the reason why `end_of_string` failed.
[[gnu::cold]] std::string_view fault_of_string(const char* opening, const char* end) {
  const char* at = opening + 1;
  while ((at = next_special(at, end)) < end) {
    if (*at == '"') return kBadEscape;
    if (*at != '\\') return kControl;
    if (end - at < 2) break;
    at += 2;
  }
  return kNotClosed;
}

[[gnu::always_inline]] inline const char* end_of_number(const char* at, const char* end) {
  const auto digits = [&] {
    const char* const start = at;
    while (at < end && *at >= '0' && *at <= '9')
      ++at;
    return at - start;
  };
  if (*at == '-') ++at;
  const bool zero = at < end && *at == '0';
  const auto whole = digits();
  if (whole == 0 || (zero && whole > 1)) return nullptr;
  if (at < end && *at == '.') {
    ++at;
    if (digits() == 0) return nullptr;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end && (*at == '+' || *at == '-')) ++at;
    if (digits() == 0) return nullptr;
  }
  return at;
}

template <std::size_t N>
const char* end_of_word(const char* at, const char* end, const char (&word)[N]) {
  constexpr std::size_t kLength = N - 1;
  const bool there = static_cast<std::size_t>(end - at) >= kLength && std::memcmp(at, word, kLength) == 0;
  return there ? at + kLength : nullptr;
}

// Returns the end of a number, true, false or null; a null pointer for anything else. The caller checks what follows.
const char* end_of_scalar(const char* at, const char* end) {
  switch (*at) {
    case 't': return end_of_word(at, end, "true");
    case 'f': return end_of_word(at, end, "false");
    case 'n': return end_of_word(at, end, "null");
    default: return end_of_number(at, end);
  }
}

// A watcher that ignores everything that is skipped.
struct Unwatched {
  static void open_object() {}
  static bool close_object() { return true; }
  static void add(std::string_view /*raw*/, bool /*escaped*/, const char* /*end*/) {}
  static void pass_scalar(std::string_view /*value*/) {}
};

}  // namespace

Result<Tokens> Tokens::of(std::string_view text, std::size_t max_depth) {
  const bool utf8 =
      blocks::are_ascii(text.data(), text.data() + text.size()) || simdjson::validate_utf8(text.data(), text.size());
  if (!utf8) {
    return std::unexpected(errors::invalid("the text is not valid UTF-8"));
  }
  Tokens tokens(text, std::min(max_depth, kDeepest));
  tokens.step_behind(tokens.begin_);
  if (tokens.done()) return std::unexpected(errors::invalid("the text is empty, not JSON"));
  return tokens;
}

void Tokens::step_over_space() { at_ = skip_space(at_, end_); }

bool Tokens::fail_too_deep() {
  too_deep_ = true;
  return fail("nested too deep");
}

bool Tokens::enter(char opener) {
  if (peek() != opener) return fail("an object or array is expected");
  if (depth_ == max_depth_) return fail_too_deep();
  ++depth_;
  step_behind(at_ + 1);
  return true;
}

std::string_view Tokens::take_string() {
  const char* const begin = at_;
  const char* const behind = end_of_string(begin, end_, escaped_);
  if (behind == nullptr) {
    fail(fault_of_string(begin, end_));
    return {};
  }
  step_behind(behind);
  return {begin, behind};
}

std::string_view Tokens::take_key() {
  if (peek() != '"') {
    fail(kNoString);
    return {};
  }
  const char* const begin = at_;
  const char* const behind = end_of_string(begin, end_, escaped_);
  if (behind == nullptr) {
    fail(fault_of_string(begin, end_));
    return {};
  }
  at_ = skip_space(behind, end_);
  if (!take(':')) {
    fail(kNoColon);
    return {};
  }
  return {begin, behind};
}

std::string_view Tokens::take_other_value() {
  Unwatched nothing;
  return take_other_value(nothing);
}

std::string_view Tokens::take_value(UniqueKeys& keys) { return peek() == '"' ? take_string() : take_other_value(keys); }

template <class Watch>
std::string_view Tokens::take_other_value(Watch& watch) {
  if (done()) {
    fail("the text ends too early");
    return {};
  }
  const char* const begin = at_;
  if (*begin == '{' || *begin == '[') {
    if (!skip_container(watch)) return {};
    return {begin, last_end_};
  }
  const char* const behind = end_of_scalar(begin, end_);
  if (behind == nullptr) {
    fail(kNoValue);
    return {};
  }
  step_behind(behind);
  watch.pass_scalar({begin, behind});
  return {begin, behind};
}

// This loop sees nearly every token of a large message. Its state is local, so that it stays in registers.
template <class Watch>
bool Tokens::skip_container(Watch& watch) {
  const char* const end = end_;
  const char* at = at_;
  const std::size_t deepest = max_depth_ - depth_;
  std::array<char, kDeepest> closers;  // closing brackets of the open containers; not initialized, because it is large
  std::size_t depth = 0;

  const auto peek = [&] [[gnu::always_inline]] { return at < end ? *at : '\0'; };
  const auto step = [&] [[gnu::always_inline]] (const char* behind) { at = skip_space(behind, end); };
  const auto stop = [&](std::string_view why) {
    at_ = at;
    return fail(why);
  };
  const auto skip_string = [&] [[gnu::always_inline]] {
    bool escaped = false;
    const char* const behind = end_of_string(at, end, escaped);
    if (behind == nullptr) return stop(fault_of_string(at, end));
    step(behind);
    return true;
  };
  const auto skip_key = [&] [[gnu::always_inline]] {
    if (peek() != '"') return stop(kNoString);
    bool escaped = false;
    const char* const behind = end_of_string(at, end, escaped);
    if (behind == nullptr) return stop(fault_of_string(at, end));
    watch.add({at, behind}, escaped, end);
    step(behind);
    if (peek() != ':') return stop(kNoColon);
    step(at + 1);
    return true;
  };

  while (true) {
    const char token = peek();
    if (token == '"') {
      if (!skip_string()) return false;
    } else if (token == '{' || token == '[') {
      if (depth == deepest) {
        stop({});
        return fail_too_deep();
      }
      step(at + 1);
      const char closer = static_cast<char>(token + 2);  // in ASCII, brackets of a pair are two apart
      closers[depth++] = closer;
      if (token == '{') watch.open_object();
      if (peek() != closer) {
        if (token == '{' && !skip_key()) return false;
        continue;
      }
    } else if (at == end) {
      return stop("the text ends inside an object or array");
    } else {
      const char* const behind = end_of_scalar(at, end);
      if (behind == nullptr) return stop(kNoValue);
      watch.pass_scalar({at, behind});
      step(behind);
    }
    // After a value: leaves all containers that end here, then goes on to the next value.
    while (peek() == closers[depth - 1]) {
      const char* const behind = at + 1;
      if (*at == '}' && !watch.close_object()) return stop(kKeyTwice);
      step(behind);
      if (--depth == 0) {
        last_end_ = behind;
        at_ = at;
        return true;
      }
    }
    if (peek() != ',') return stop("a comma or the end of an object or array is expected");
    step(at + 1);
    if (closers[depth - 1] == '}' && !skip_key()) return false;
  }
}

}  // namespace proteus::json
