#include "json/tokens.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <simdjson.h>

#include "json/text.hpp"

namespace proteus::json {
namespace {

using Indexer = simdjson::internal::dom_parser_implementation;

// An index takes four bytes per byte of text: what a thread keeps for reuse is bounded by this.
constexpr std::size_t kKeptCapacity = std::size_t{1} << 20U;

Result<Indexer*> indexer_for(std::size_t bytes) {
  static thread_local std::unique_ptr<Indexer> kept;
  if (!kept) {
    const auto made = simdjson::get_active_implementation()->create_dom_parser_implementation(std::size_t{16} * 1024,
                                                                                              /*max_depth=*/1, kept);
    if (made != simdjson::SUCCESS) return std::unexpected(errors::internal("out of memory for a JSON index"));
  }
  std::size_t wanted = std::max(kept->capacity(), std::size_t{16} * 1024);
  if (bytes > wanted) {
    while (wanted < bytes)
      wanted *= 2;
  } else if (wanted > kKeptCapacity && bytes <= kKeptCapacity) {
    wanted = kKeptCapacity;
  }
  if (kept->allocate(wanted, 1) != simdjson::SUCCESS) {
    kept.reset();
    return std::unexpected(errors::internal("out of memory for a JSON index"));
  }
  return kept.get();
}

// A token that is no string ends where white space begins or the next token does: all it has to be followed
// by.
bool ends_at(std::string_view text, std::size_t at, std::size_t end) {
  return at == end || (at < end && Tokens::is_space(text[at]));
}

bool is_number(std::string_view text, std::size_t at, std::size_t end) {
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < end && text[at] >= '0' && text[at] <= '9')
      ++at;
    return at - start;
  };
  if (text[at] == '-') ++at;
  const bool zero = at < end && text[at] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at < end && text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < end && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < end && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return ends_at(text, at, end);
}

template <std::size_t N>
bool is_word(std::string_view text, std::size_t at, std::size_t end, const char (&word)[N]) {
  constexpr std::size_t kLength = N - 1;
  return end - at >= kLength && std::memcmp(text.data() + at, word, kLength) == 0 && ends_at(text, at + kLength, end);
}

// Whether the token that begins and ends there is a number, true, false or null.
bool is_plain_scalar(std::string_view text, std::size_t begin, std::size_t end) {
  switch (text[begin]) {
    case 't': return is_word(text, begin, end, "true");
    case 'f': return is_word(text, begin, end, "false");
    case 'n': return is_word(text, begin, end, "null");
    default: return is_number(text, begin, end);
  }
}

}  // namespace

Result<Tokens> Tokens::index(std::string_view text, std::size_t max_depth) {
  if (text.empty()) return std::unexpected(errors::invalid("the text is empty, not JSON"));
  auto indexer = indexer_for(text.size());
  if (!indexer) return std::unexpected(indexer.error());
  const auto status = (*indexer)->stage1(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                         simdjson::stage1_mode::regular);
  switch (status) {
    case simdjson::SUCCESS: break;
    case simdjson::UTF8_ERROR: return std::unexpected(errors::invalid("the text is not valid UTF-8"));
    case simdjson::UNCLOSED_STRING: return std::unexpected(errors::invalid("a string is not closed"));
    case simdjson::UNESCAPED_CHARS:
      return std::unexpected(errors::invalid("a string holds a control character that is not escaped"));
    case simdjson::EMPTY: return std::unexpected(errors::invalid("the text is empty, not JSON"));
    default: return std::unexpected(errors::invalid("the text is not JSON"));
  }
  Tokens tokens;
  tokens.text_ = text;
  tokens.index_ = (*indexer)->structural_indexes.get();
  tokens.count_ = (*indexer)->n_structural_indexes;
  tokens.next_backslash_ = std::min(text.find('\\'), text.size());
  tokens.max_depth_ = std::min(max_depth, kDeepest);
  return tokens;
}

bool Tokens::fail_too_deep() {
  too_deep_ = true;
  return fail("nested too deep");
}

bool Tokens::enter(char opener) {
  if (peek() != opener) return fail("an object or array is expected");
  if (depth_ == max_depth_) return fail_too_deep();
  ++depth_;
  ++at_;
  return true;
}

// Stage one has seen to it that a token with a quote in front is a whole string: what follows the closing
// quote is a token of its own. Only escapes are left to check, and looking for the next backslash once is
// cheaper than looking for one in each string.
bool Tokens::check_escapes() {
  const std::string_view token = trimmed(index_[at_], token_end());
  if (!valid_escapes(token.substr(1, token.size() - 2))) return fail("a string holds an invalid escape");
  next_backslash_ = std::min(text_.find('\\', token_end()), text_.size());
  return true;
}

std::string_view Tokens::take_other_value() {
  if (done()) {
    fail("the text ends too early");
    return {};
  }
  const std::size_t begin = index_[at_];
  if (text_[begin] == '{' || text_[begin] == '[') {
    if (!skip_container()) return {};
    return text_.substr(begin, last_end() - begin);
  }
  const std::size_t end = token_end();
  if (!is_plain_scalar(text_, begin, end)) {
    fail("a value is expected");
    return {};
  }
  ++at_;
  return trimmed(begin, end);
}

// The loop that sees nearly every token of a large message. Its state is local, and its parts are inlined, so
// that the state stays in registers.
bool Tokens::skip_container() {
  const char* const text = text_.data();
  const std::uint32_t* const index = index_;
  const std::size_t count = count_;
  const std::size_t deepest = max_depth_ - depth_;
  std::size_t at = at_;
  std::array<char, kDeepest> closers;  // of the containers that are open; not initialized, because it is large
  std::size_t depth = 0;

  const auto peek = [&] [[gnu::always_inline]] { return at < count ? text[index[at]] : '\0'; };
  const auto end = [&] [[gnu::always_inline]] { return at + 1 < count ? index[at + 1] : text_.size(); };
  const auto stop = [&] [[gnu::always_inline]] (std::string_view why) {
    at_ = at;
    return fail(why);
  };
  const auto skip_string = [&] [[gnu::always_inline]] {
    if (next_backslash_ < end()) [[unlikely]] {
      at_ = at;
      if (!check_escapes()) return false;
    }
    ++at;
    return true;
  };
  const auto skip_key = [&] [[gnu::always_inline]] {
    if (peek() != '"') return stop("a string is expected");
    if (!skip_string()) return false;
    if (peek() != ':') return stop("a colon is expected after a key");
    ++at;
    return true;
  };

  while (true) {
    const char token = peek();
    if (token == '"') {
      if (!skip_string()) return false;
    } else if (token == '{' || token == '[') {
      if (depth == deepest) {
        at_ = at;
        return fail_too_deep();
      }
      ++at;
      const char closer = static_cast<char>(token + 2);  // in ASCII, of both
      closers[depth++] = closer;
      if (peek() != closer) {
        if (token == '{' && !skip_key()) return false;
        continue;
      }
    } else if (at == count) {
      return stop("the text ends inside an object or array");
    } else if (is_plain_scalar(text_, index[at], end())) {
      ++at;
    } else {
      return stop("a value is expected");
    }
    // Behind a value: out of all that ends here, or on to the next one.
    char next = peek();
    while (next == closers[depth - 1]) {
      ++at;
      if (--depth == 0) {
        at_ = at;
        return true;
      }
      next = peek();
    }
    if (next != ',') return stop("a comma or the end of an object or array is expected");
    ++at;
    if (closers[depth - 1] == '}' && !skip_key()) return false;
  }
}

}  // namespace proteus::json
