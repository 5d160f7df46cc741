#include "json/schema/ecma_pattern.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/text/visible_text.hpp"
#include "json/schema/unicode_property.hpp"

namespace proteus::json::schema {
namespace {

// ECMA-262 counts all of these as white space and line ends; RE2's \s and dot only know those in ASCII.
constexpr std::string_view kSpace =
    R"(\x09-\x0d\x20\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff})";
constexpr std::string_view kNotSpace =
    R"(\x00-\x08\x0e-\x1f\x21-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e})"
    R"(\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff})";
constexpr std::string_view kAny = R"(\x00-\x{10ffff})";
constexpr std::string_view kDot = R"([^\n\r\x{2028}\x{2029}])";

// RE2's own limit for one repetition, which multiplies the size of the program.
constexpr unsigned kMaxRepeat = 1000;

// One member of a character class: a code point, or members in RE2 syntax.
struct Member {
  std::optional<char32_t> point = std::nullopt;
  std::string members = {};
  bool negated = false;  // stands for everything except `members`
};

std::string escaped(char32_t point) {
  const bool plain = (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z') ||
                     (point >= '0' && point <= '9') || point == '_' || point == ' ';
  return plain ? std::string(1, static_cast<char>(point))
               : fmt::format("\\x{{{:x}}}", static_cast<std::uint32_t>(point));
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern) {}

  Result<std::string> run() {
    while (!rest_.empty() && !error_)
      step();
    if (!error_ && groups_ != 0) invalid("a group is not closed");
    if (error_) return std::unexpected(*std::move(error_));
    return std::move(out_);
  }

 private:
  void step() {
    switch (rest_.front()) {
      case '^':
      case '$': return assertion(take(1));
      case '|':
        out_ += take(1);
        repeatable_ = false;
        return;
      case '.': take(1); return atom(kDot);
      case '(': return open_group();
      case ')':
        if (groups_ == 0) return invalid("\")\" closes no group");
        --groups_;
        return atom(take(1));
      case '*':
      case '+':
      case '?': return repeat(take(1));
      case '{':
        if (const auto length = counted_repeat()) return repeat(take(length));
        take(1);
        return atom(escaped('{'));
      case '[': return character_class();
      case '\\': return escape();
      default:
        if (const auto point = code_point()) atom(escaped(*point));
    }
  }

  void assertion(std::string_view text) {
    out_ += text;
    repeatable_ = false;
  }

  void atom(std::string_view text) {
    out_ += text;
    repeatable_ = true;
  }

  void repeat(std::string_view quantifier) {
    if (!repeatable_) return invalid(fmt::format("\"{}\" has nothing to repeat", quantifier));
    out_ += quantifier;
    if (rest_.starts_with('?')) out_ += take(1);
    repeatable_ = false;
  }

  // Returns the length of {n}, {n,} or {n,m} at the front; 0 if the brace is a literal.
  std::size_t counted_repeat() {
    const char* end = rest_.data() + rest_.size();
    unsigned low = 0;
    auto [at, error] = std::from_chars(rest_.data() + 1, end, low);
    if (at == rest_.data() + 1 || at == end) return 0;
    unsigned high = low;
    if (*at == ',' && ++at != end && *at != '}') {
      const char* from = at;
      const auto parsed = std::from_chars(from, end, high);
      if (parsed.ptr == from) return 0;
      at = parsed.ptr;
      if (parsed.ec != std::errc{}) error = parsed.ec;
    } else {
      high = low;
    }
    if (at == end || *at != '}') return 0;
    if (error != std::errc{} || low > kMaxRepeat || high > kMaxRepeat) {
      unsupported(
          fmt::format("repetition beyond {} is not supported; minLength and maxLength count further", kMaxRepeat));
    } else if (high < low) {
      invalid("a repetition has its numbers in the wrong order");
    }
    return static_cast<std::size_t>(at + 1 - rest_.data());
  }

  void open_group() {
    if (rest_.starts_with("(?=") || rest_.starts_with("(?!")) return unsupported("lookahead is not supported");
    if (rest_.starts_with("(?<=") || rest_.starts_with("(?<!")) return unsupported("lookbehind is not supported");
    if (rest_.starts_with("(?:")) {
      take(3);
    } else if (rest_.starts_with("(?<")) {
      const auto close = rest_.find('>');
      if (close == std::string_view::npos) return invalid("the name of a group is not closed");
      take(close + 1);
    } else if (rest_.starts_with("(?")) {
      return invalid("\"(?\" starts no group that ECMA-262 knows");
    } else {
      take(1);
    }
    ++groups_;
    out_ += "(?:";
    repeatable_ = false;
  }

  void escape() {
    if (rest_.size() >= 2) {
      const char next = rest_[1];
      if (next == 'b' || next == 'B') return assertion(take(2));
      if (next >= '1' && next <= '9') return unsupported("a backreference is not supported");
      if (next == 'k') return unsupported("a named backreference is not supported");
    }
    const Member member = escaped_member();
    if (member.point) return atom(escaped(*member.point));
    atom(fmt::format("[{}{}]", member.negated ? "^" : "", member.members));
  }

  void character_class() {
    take(1);
    const bool negated = rest_.starts_with('^');
    if (negated) take(1);
    std::string members;
    while (!error_ && !rest_.empty() && rest_.front() != ']') {
      const Member first = class_member();
      if (first.point && rest_.starts_with('-') && rest_.size() > 1 && rest_[1] != ']') {
        take(1);
        const Member last = class_member();
        if (last.point) {
          if (*last.point < *first.point) return invalid("a range of characters has its ends in the wrong order");
          members += escaped(*first.point) + "-" + escaped(*last.point);
          continue;
        }
        members += escaped(*first.point) + escaped('-');
        add(members, last);
        continue;
      }
      add(members, first);
    }
    if (error_) return;
    if (rest_.empty()) return invalid("a class of characters is not closed");
    take(1);
    if (members.empty()) return atom(fmt::format("[{}{}]", negated ? "" : "^", kAny));
    atom(fmt::format("[{}{}]", negated ? "^" : "", members));
  }

  void add(std::string& members, const Member& member) {
    if (member.point) {
      members += escaped(*member.point);
    } else if (!member.negated) {
      members += member.members;
    } else if (member.members.starts_with("\\p{") && member.members.rfind("\\p{") == 0) {
      members += "\\P" + member.members.substr(2);
    } else {
      unsupported("this negated property is not supported inside a class of characters");
    }
  }

  Member class_member() {
    if (rest_.starts_with("\\b")) {
      take(2);
      return {.point = U'\b'};
    }
    if (rest_.starts_with("\\")) return escaped_member();
    return {.point = code_point()};
  }

  // Reads an escape, inside or outside a class.
  Member escaped_member() {
    take(1);
    if (rest_.empty()) {
      invalid("it ends in a backslash");
      return {};
    }
    const char c = rest_.front();
    switch (c) {
      case 'd': return members("0-9");
      case 'D': return members(R"(\x00-\x2f\x3a-\x{10ffff})");
      case 'w': return members(R"(0-9A-Za-z_)");
      case 'W': return members(R"(\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x{10ffff})");
      case 's': return members(kSpace);
      case 'S': return members(kNotSpace);
      case 't': return point(U'\t');
      case 'n': return point(U'\n');
      case 'v': return point(U'\v');
      case 'f': return point(U'\f');
      case 'r': return point(U'\r');
      case '0': return point(U'\0');
      case 'c': return control();
      case 'x': take(1); return {.point = hex(2)};
      case 'u': return unicode();
      case 'p':
      case 'P': return property();
      default: break;
    }
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (word) {
      invalid(fmt::format("\\{} is not an escape of ECMA-262", c));
      return {};
    }
    return {.point = code_point()};
  }

  Member members(std::string_view text) {
    take(1);
    return {.members = std::string(text)};
  }

  Member point(char32_t value) {
    take(1);
    return {.point = value};
  }

  Member control() {
    take(1);
    const char letter = rest_.empty() ? '\0' : rest_.front();
    if (!(letter >= 'a' && letter <= 'z') && !(letter >= 'A' && letter <= 'Z')) {
      invalid("\\c needs a letter");
      return {};
    }
    return point(static_cast<char32_t>(letter) % 32);
  }

  Member unicode() {
    take(1);
    if (rest_.starts_with('{')) {
      const auto close = rest_.find('}');
      std::uint32_t value = 0;
      const char* begin = rest_.data() + 1;
      const char* end = close == std::string_view::npos ? begin : rest_.data() + close;
      const auto parsed = std::from_chars(begin, end, value, 16);
      if (begin == end || parsed.ptr != end || parsed.ec != std::errc{} || value > 0x10ffff) {
        invalid("\\u{...} is not a code point");
        return {};
      }
      take(close + 1);
      return {.point = value};
    }
    const auto high = hex(4);
    if (!high || *high < 0xd800 || *high > 0xdbff || !rest_.starts_with("\\u")) return {.point = high};
    // Two escapes are one code point if they are a high and a low surrogate.
    const auto before = rest_;
    take(2);
    const auto low = rest_.starts_with('{') ? std::nullopt : hex(4);
    if (!low || *low < 0xdc00 || *low > 0xdfff) {
      rest_ = before;
      return {.point = high};
    }
    return {.point = 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00)};
  }

  Member property() {
    const bool negated = rest_.front() == 'P';
    take(1);
    const auto close = rest_.find('}');
    if (!rest_.starts_with('{') || close == std::string_view::npos) {
      invalid("\\p needs the name of a property in braces");
      return {};
    }
    auto members = unicode_property_members(rest_.substr(1, close - 1));
    take(close + 1);
    if (!members) {
      fail(std::move(members).error());
      return {};
    }
    return {.members = *std::move(members), .negated = negated};
  }

  std::optional<char32_t> hex(std::size_t digits) {
    std::uint32_t value = 0;
    const char* const begin = rest_.data();
    const char* const end = begin + std::min(digits, rest_.size());
    if (rest_.size() < digits || std::from_chars(begin, end, value, 16).ptr != end) {
      invalid(fmt::format("an escape lacks its {} hexadecimal digits", digits));
      return std::nullopt;
    }
    take(digits);
    return value;
  }

  // Decodes one UTF-8 character.
  std::optional<char32_t> code_point() {
    const FirstCharacter first = first_character(rest_);
    if (first.bytes == 0) {
      invalid("it is not valid UTF-8");
      return std::nullopt;
    }
    take(first.bytes);
    return first.character;
  }

  std::string_view take(std::size_t count) {
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  void invalid(std::string message) { fail(errors::invalid(std::move(message))); }
  void unsupported(std::string message) { fail(errors::unsupported(std::move(message))); }
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
    rest_ = {};
  }

  std::string_view rest_;
  std::string out_;
  std::size_t groups_ = 0;
  bool repeatable_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<std::string> translate_ecma_pattern(std::string_view pattern) { return Translator(pattern).run(); }

}  // namespace proteus::json::schema
