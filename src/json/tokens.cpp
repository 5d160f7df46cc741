#include "json/tokens.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

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
    const auto made = simdjson::get_active_implementation()->create_dom_parser_implementation(
        std::size_t{16} * 1024, /*max_depth=*/1, kept);
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

constexpr bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool is_number(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      ++at;
    return at - start;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const bool zero = at < text.size() && text[at] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace

Result<Tokens> Tokens::index(std::string_view text, std::size_t max_depth) {
  if (text.empty()) return std::unexpected(errors::invalid("the text is empty, not JSON"));
  auto indexer = indexer_for(text.size());
  if (!indexer) return std::unexpected(indexer.error());
  const auto status = (*indexer)->stage1(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                         simdjson::stage1_mode::regular);
  switch (status) {
    case simdjson::SUCCESS:
      break;
    case simdjson::UTF8_ERROR:
      return std::unexpected(errors::invalid("the text is not valid UTF-8"));
    case simdjson::UNCLOSED_STRING:
      return std::unexpected(errors::invalid("a string is not closed"));
    case simdjson::UNESCAPED_CHARS:
      return std::unexpected(errors::invalid("a string holds a control character that is not escaped"));
    case simdjson::EMPTY:
      return std::unexpected(errors::invalid("the text is empty, not JSON"));
    default:
      return std::unexpected(errors::invalid("the text is not JSON"));
  }
  Tokens tokens;
  tokens.text_ = text;
  tokens.index_ = (*indexer)->structural_indexes.get();
  tokens.count_ = (*indexer)->n_structural_indexes;
  tokens.max_depth_ = max_depth;
  return tokens;
}

// From the current token to the last character before the next one that is not white space.
std::string_view Tokens::token_text() const {
  const std::size_t begin = index_[at_];
  std::size_t end = at_ + 1 < count_ ? index_[at_ + 1] : text_.size();
  while (end > begin && is_space(text_[end - 1]))
    --end;
  return text_.substr(begin, end - begin);
}

std::string_view Tokens::take_string() {
  const std::string_view token = token_text();
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') return fail("a string is expected");
  if (!valid_escapes(token.substr(1, token.size() - 2))) return fail("a string holds an invalid escape");
  ++at_;
  return token;
}

std::string_view Tokens::take_scalar() {
  const std::string_view token = token_text();
  bool valid = false;
  switch (token.front()) {
    case '"':
      return take_string();
    case 't':
      valid = token == "true";
      break;
    case 'f':
      valid = token == "false";
      break;
    case 'n':
      valid = token == "null";
      break;
    default:
      valid = is_number(token);
  }
  if (!valid) return fail("a value is expected");
  ++at_;
  return token;
}

std::string_view Tokens::take_value() {
  if (done()) return fail("the text ends too early");
  const char first = peek();
  if (first != '{' && first != '[') return take_scalar();
  const std::size_t begin = position();
  if (!skip_container()) return {};
  return text_.substr(begin, index_[at_ - 1] + 1 - begin);
}

bool Tokens::skip_container() {
  std::string
      closers;  // of the containers that are open; stays within the small-string buffer for usual depths
  bool after_value = false;
  do {
    const char token = peek();
    if (token == '\0') return !fail("the text ends inside an object or array").empty();
    if (after_value) {
      ++at_;
      if (token == closers.back()) {
        closers.pop_back();
        continue;
      }
      if (token != ',') return !fail("a comma or the end of an object or array is expected").empty();
      after_value = false;
      if (closers.back() == '}') {
        if (take_string().empty()) return false;
        if (!take(':')) return !fail("a colon is expected after a key").empty();
      }
    } else if (token == '{' || token == '[') {
      if (closers.size() == max_depth_) return !fail("nested too deep").empty();
      ++at_;
      closers.push_back(token == '{' ? '}' : ']');
      if (take(closers.back())) {
        closers.pop_back();
        after_value = true;
        continue;
      }
      if (token == '{') {
        if (take_string().empty()) return false;
        if (!take(':')) return !fail("a colon is expected after a key").empty();
      }
    } else {
      if (take_scalar().empty()) return false;
      after_value = true;
    }
  } while (!closers.empty());
  return true;
}

}  // namespace proteus::json
