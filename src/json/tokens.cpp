#include "json/tokens.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include <simdjson.h>

#include "json/text.hpp"
#include "json/unique_keys.hpp"

namespace proteus::json {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kNotClosed = "a string is not closed";
constexpr std::string_view kControl = "a string holds a control character that is not escaped";
constexpr std::string_view kBadEscape = "a string holds an invalid escape";
constexpr std::string_view kNoValue = "a value is expected";
constexpr std::string_view kNoString = "a string is expected";
constexpr std::string_view kKeyTwice = "an object has a key twice";
constexpr std::string_view kNoColon = "a colon is expected after a key";

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// What ends a run of a string's plain characters.
constexpr bool is_special(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

using Block = unsigned char __attribute__((vector_size(16)));

// Each byte that is special has all its bits set.
struct Hits {
  std::uint64_t low;
  std::uint64_t high;
};

[[gnu::always_inline]] inline auto special_in(const char* at) {
  Block block;
  std::memcpy(&block, at, sizeof block);
  return (block == '"') | (block == '\\') | (block < 0x20);
}

// Of a block at that place; null where nothing is special.
[[gnu::always_inline]] inline const char* first_of(auto found, const char* place) {
  Hits hits;
  std::memcpy(&hits, &found, sizeof hits);
  if (hits.low != 0) return place + (std::countr_zero(hits.low) / 8);
  if (hits.high != 0) return place + 8 + (std::countr_zero(hits.high) / 8);
  return nullptr;
}

const char* next_special(const char* at, const char* end) {
  // Long texts: four blocks at a time.
  while (end - at >= 64) {
    const auto found = special_in(at) | special_in(at + 16) | special_in(at + 32) | special_in(at + 48);
    if (first_of(found, at) != nullptr) break;
    at += 64;
  }
  for (; end - at >= 16; at += 16) {
    if (const char* found = first_of(special_in(at), at)) return found;
  }
  while (at < end && !is_special(*at))
    ++at;
  return at;
}

[[gnu::always_inline]] inline const char* skip_space(const char* at, const char* end) {
  if (at < end && *at > ' ') [[likely]]
    return at;
  while (at < end && is_space(*at))
    ++at;
  return at;
}

struct StringEnd {
  const char* behind = nullptr;  // the closing quote; null for a fault
  bool escaped = false;
  std::string_view fault{};
};

[[gnu::noinline]] StringEnd end_of_long_string(const char* opening, const char* end) {
  bool escaped = false;
  const char* at = opening + 1;
  while (true) {
    at = next_special(at, end);
    if (at >= end) return {.fault = kNotClosed};
    if (*at == '"') break;
    if (*at != '\\') return {.fault = kControl};
    escaped = true;
    if (end - at < 2) return {.fault = kNotClosed};
    at += 2;
  }
  if (escaped && !valid_escapes({opening + 1, at})) return {.fault = kBadEscape};
  return {.behind = at + 1, .escaped = escaped};
}

// The lowest bit that is set belongs to the first special byte of eight.
[[gnu::always_inline]] inline std::uint64_t special_among(std::uint64_t bytes) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  const std::uint64_t quotes = bytes ^ (kEach * '"');
  const std::uint64_t backslashes = bytes ^ (kEach * '\\');
  return (((quotes - kEach) & ~quotes) | ((backslashes - kEach) & ~backslashes) | ((bytes - (kEach * 0x20)) & ~bytes)) &
         (kEach * 0x80);
}

// Of the string whose opening quote is there. Most are short and plain: for those a register is sooner asked than a
// vector.
[[gnu::always_inline]] inline StringEnd end_of_string(const char* opening, const char* end) {
  if (end - opening > 16) [[likely]] {
    std::array<std::uint64_t, 2> words;
    std::memcpy(words.data(), opening + 1, sizeof words);
    const char* at = opening + 1;
    for (const std::uint64_t word : words) {
      if (const std::uint64_t found = special_among(word)) {
        at += std::countr_zero(found) / 8;
        if (*at == '"') [[likely]]
          return {.behind = at + 1};
        break;
      }
      at += 8;
    }
  }
  return end_of_long_string(opening, end);
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

// Of a number, true, false or null; null for anything else. What may follow it is the grammar's business.
const char* end_of_scalar(const char* at, const char* end) {
  switch (*at) {
    case 't': return end_of_word(at, end, "true");
    case 'f': return end_of_word(at, end, "false");
    case 'n': return end_of_word(at, end, "null");
    default: return end_of_number(at, end);
  }
}

// For those who need nothing to be told of what is stepped over.
struct Unwatched {
  static void open_object() {}
  static bool close_object() { return true; }
  static void add(std::string_view /*raw*/, bool /*escaped*/, const char* /*end*/) {}
  static void pass_scalar(std::string_view /*value*/) {}
};

}  // namespace

Result<Tokens> Tokens::of(std::string_view text, std::size_t max_depth) {
  if (!simdjson::validate_utf8(text.data(), text.size())) {
    return std::unexpected(errors::invalid("the text is not valid UTF-8"));
  }
  Tokens tokens;
  tokens.text_ = text;
  tokens.max_depth_ = std::min(max_depth, kDeepest);
  tokens.step_behind(0);
  if (tokens.done()) return std::unexpected(errors::invalid("the text is empty, not JSON"));
  return tokens;
}

void Tokens::step_behind(std::size_t end) {
  end_ = end;
  at_ = static_cast<std::size_t>(skip_space(text_.data() + end, text_.data() + text_.size()) - text_.data());
}

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
  const std::size_t begin = at_;
  const StringEnd string = end_of_string(text_.data() + begin, text_.data() + text_.size());
  if (string.behind == nullptr) {
    fail(string.fault);
    return {};
  }
  escaped_ = string.escaped;
  step_behind(static_cast<std::size_t>(string.behind - text_.data()));
  return text_.substr(begin, end_ - begin);
}

std::string_view Tokens::take_key() {
  if (peek() != '"') {
    fail(kNoString);
    return {};
  }
  const std::string_view key = take_string();
  if (key.empty()) return {};
  if (!take(':')) {
    fail(kNoColon);
    return {};
  }
  return key;
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
  const std::size_t begin = at_;
  if (text_[begin] == '{' || text_[begin] == '[') {
    if (!skip_container(watch)) return {};
    return text_.substr(begin, end_ - begin);
  }
  const char* const end = end_of_scalar(text_.data() + begin, text_.data() + text_.size());
  if (end == nullptr) {
    fail(kNoValue);
    return {};
  }
  step_behind(static_cast<std::size_t>(end - text_.data()));
  watch.pass_scalar(text_.substr(begin, end_ - begin));
  return text_.substr(begin, end_ - begin);
}

// The loop that sees nearly every token of a large message. Its state is local, so that it stays in registers.
template <class Watch>
bool Tokens::skip_container(Watch& watch) {
  const char* const end = text_.data() + text_.size();
  const char* at = text_.data() + at_;
  const std::size_t deepest = max_depth_ - depth_;
  std::array<char, kDeepest> closers;  // of the containers that are open; not initialized, because it is large
  std::size_t depth = 0;

  const auto peek = [&] [[gnu::always_inline]] { return at < end ? *at : '\0'; };
  const auto step = [&] [[gnu::always_inline]] (const char* behind) { at = skip_space(behind, end); };
  const auto stop = [&](std::string_view why) {
    at_ = static_cast<std::size_t>(at - text_.data());
    return fail(why);
  };
  const auto skip_string = [&] [[gnu::always_inline]] {
    const StringEnd string = end_of_string(at, end);
    if (string.behind == nullptr) return stop(string.fault);
    step(string.behind);
    return true;
  };
  const auto skip_key = [&] [[gnu::always_inline]] {
    if (peek() != '"') return stop(kNoString);
    const char* const begin = at;
    const StringEnd string = end_of_string(at, end);
    if (string.behind == nullptr) return stop(string.fault);
    watch.add({begin, string.behind}, string.escaped, end);
    step(string.behind);
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
      const char closer = static_cast<char>(token + 2);  // in ASCII, of both
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
    // Behind a value: out of all that ends here, or on to the next one.
    while (peek() == closers[depth - 1]) {
      const char* const behind = at + 1;
      if (*at == '}' && !watch.close_object()) return stop(kKeyTwice);
      step(behind);
      if (--depth == 0) {
        end_ = static_cast<std::size_t>(behind - text_.data());
        at_ = static_cast<std::size_t>(at - text_.data());
        return true;
      }
    }
    if (peek() != ',') return stop("a comma or the end of an object or array is expected");
    step(at + 1);
    if (closers[depth - 1] == '}' && !skip_key()) return false;
  }
}

}  // namespace proteus::json
