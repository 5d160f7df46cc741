#include "json/canonical.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/text/base64.hpp"
#include "json/message.hpp"
#include "json/text.hpp"
#include "json/tokens.hpp"

namespace proteus::json {
namespace {

// Compares keys by UTF-16 code units, as RFC 8785 orders them. This differs from byte order only if the first
// difference is between a character above the basic plane (four bytes in UTF-8, surrogates D800-DFFF in UTF-16) and one
// from E000-FFFF.
bool utf16_less(std::string_view a, std::string_view b) {
  const auto [left, right] = std::ranges::mismatch(a, b);
  if (left == a.end() || right == b.end()) return a.size() < b.size();
  const auto x = static_cast<unsigned char>(*left);
  const auto y = static_cast<unsigned char>(*right);
  const bool x_supplementary = x >= 0xF0;
  const bool y_supplementary = y >= 0xF0;
  if (x_supplementary != y_supplementary && x >= 0xEE && y >= 0xEE) return x_supplementary;
  return x < y;
}

void append_number(std::string& out, double number) {
  if (std::isinf(number)) {
    out += number < 0 ? "-1e999" : "1e999";
    return;
  }
  if (std::trunc(number) == number && std::abs(number) < 1e21) {
    char digits[32];
    const auto written =
        std::to_chars(digits, digits + sizeof digits, number == 0 ? 0.0 : number, std::chars_format::fixed, 0);
    out.append(digits, written.ptr);
    return;
  }
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, written.ptr);
}

void append(std::string& out, const boost::json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::null: out += "null"; break;
    case boost::json::kind::bool_: out += value.get_bool() ? "true" : "false"; break;
    case boost::json::kind::int64: out += std::to_string(value.get_int64()); break;
    case boost::json::kind::uint64: out += std::to_string(value.get_uint64()); break;
    case boost::json::kind::double_: append_number(out, value.get_double()); break;
    case boost::json::kind::string: append_quoted(out, value.get_string()); break;
    case boost::json::kind::array: {
      out.push_back('[');
      bool first = true;
      for (const auto& element : value.get_array()) {
        if (!std::exchange(first, false)) out.push_back(',');
        append(out, element);
      }
      out.push_back(']');
      break;
    }
    case boost::json::kind::object: {
      std::vector<const boost::json::key_value_pair*> members;
      for (const auto& member : value.get_object())
        members.push_back(&member);
      std::ranges::sort(members, [](const auto* a, const auto* b) { return utf16_less(a->key(), b->key()); });
      out.push_back('{');
      bool first = true;
      for (const auto* member : members) {
        if (!std::exchange(first, false)) out.push_back(',');
        append_quoted(out, member->key());
        out.push_back(':');
        append(out, member->value());
      }
      out.push_back('}');
      break;
    }
  }
}

// The exact value of a number in a text: digits without leading or trailing zeros, times a power of ten.
struct Decimal {
  bool negative = false;
  std::string digits;  // empty for zero
  std::int64_t exponent = 0;

  friend bool operator==(const Decimal&, const Decimal&) = default;
};

// Far more than the digits that a text can have, and far from an overflow.
constexpr std::int64_t kLargestExponent = 1'000'000'000'000;

std::optional<Decimal> decimal_of(std::string_view number) {
  Decimal decimal;
  if (number.starts_with('-')) {
    decimal.negative = true;
    number.remove_prefix(1);
  }
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  if (mark < number.size()) {
    std::string_view power = number.substr(mark + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const auto read = std::from_chars(power.data(), power.data() + power.size(), decimal.exponent);
    if (read.ec != std::errc{} || decimal.exponent > kLargestExponent || decimal.exponent < -kLargestExponent)
      return std::nullopt;
  }
  const std::string_view mantissa = number.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  decimal.digits = mantissa.substr(0, point);
  if (point < mantissa.size()) {
    const std::string_view fraction = mantissa.substr(point + 1);
    decimal.digits += fraction;
    decimal.exponent -= static_cast<std::int64_t>(fraction.size());
  }
  decimal.digits.erase(0, std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size()));
  if (decimal.digits.empty()) return Decimal{};
  const std::size_t kept = decimal.digits.find_last_not_of('0') + 1;
  decimal.exponent += static_cast<std::int64_t>(decimal.digits.size() - kept);
  decimal.digits.resize(kept);
  return decimal;
}

bool append_exactly(std::string& out, std::string_view number) {
  constexpr std::size_t kFixedDigits = 21;  // RFC 8785 writes larger ones with an exponent
  const auto decimal = decimal_of(number);
  if (!decimal) return false;
  if (decimal->digits.empty()) {
    out.push_back('0');
    return true;
  }
  const auto append_digits = [&] {
    if (decimal->negative) out.push_back('-');
    out += decimal->digits;
  };
  if (decimal->exponent >= 0 && decimal->digits.size() + static_cast<std::size_t>(decimal->exponent) <= kFixedDigits) {
    append_digits();
    out.append(static_cast<std::size_t>(decimal->exponent), '0');
    return true;
  }
  double rounded = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), rounded);
  if (read.ec == std::errc{}) {
    const std::size_t before = out.size();
    append_number(out, rounded);
    if (decimal_of(std::string_view(out).substr(before)) == decimal) return true;
    out.resize(before);
  }
  append_digits();
  if (decimal->exponent != 0) out += fmt::format("e{}", decimal->exponent);
  return true;
}

// Writes the canonical form of a text. `read` first lists all values in the order of the text: the members of an object
// are written in another order, and without the list, nested values would be scanned again for each level above them.
class TextWriter {
 public:
  // Returns false if the text is not JSON or is nested too deep.
  bool read(Tokens& tokens) {
    const std::size_t index = values_.size();
    values_.push_back({{}, 0});
    const char first = tokens.peek();
    if (first != '{' && first != '[') {
      values_[index].text = tokens.take_value();
      if (values_[index].text.empty()) return false;
    } else {
      values_[index].text = {tokens.position(), 1};
      if (!tokens.enter(first) || !(first == '{' ? read_members(tokens) : read_elements(tokens))) return false;
      tokens.leave();
    }
    values_[index].end = values_.size();
    return true;
  }

  // Returns false if an object has a duplicate key or the exponent of a number is too large. Call after `read`.
  bool write(std::string& out, std::size_t index = 0) {
    const Value& value = values_[index];
    switch (value.text.front()) {
      case '{': return write_members(out, index);
      case '[': {
        out.push_back('[');
        for (std::size_t at = index + 1; at < value.end; at = values_[at].end) {
          if (at > index + 1) out.push_back(',');
          if (!write(out, at)) return false;
        }
        out.push_back(']');
        return true;
      }
      case '"': append_quoted(out, decoded(value.text, decoded_)); return true;
      case 't':
      case 'f':
      case 'n': out += value.text; return true;
      default: return append_exactly(out, value.text);
    }
  }

 private:
  // A scalar, a key, or the opening bracket of a container whose content follows in `values_` up to `end`.
  struct Value {
    std::string_view text;
    std::size_t end;
  };

  bool read_members(Tokens& tokens) {
    if (tokens.take('}')) return true;
    do {
      const std::string_view key = tokens.take_key();
      if (key.empty()) return false;
      values_.push_back({key, values_.size() + 1});
      if (!read(tokens)) return false;
    } while (tokens.take(','));
    return tokens.take('}');
  }

  bool read_elements(Tokens& tokens) {
    if (tokens.take(']')) return true;
    do {
      if (!read(tokens)) return false;
    } while (tokens.take(','));
    return tokens.take(']');
  }

  bool write_members(std::string& out, std::size_t index) {
    std::vector<std::pair<std::string_view, std::size_t>> members;
    for (std::size_t at = index + 1; at < values_[index].end; at = values_[at + 1].end)
      members.emplace_back(decoded(values_[at].text, decoded_), at + 1);
    std::ranges::sort(members, [](const auto& a, const auto& b) { return utf16_less(a.first, b.first); });
    const auto twice =
        std::ranges::adjacent_find(members, [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != members.end()) return false;
    out.push_back('{');
    bool first = true;
    for (const auto& [key, at] : members) {
      if (!std::exchange(first, false)) out.push_back(',');
      append_quoted(out, key);
      out.push_back(':');
      if (!write(out, at)) return false;
    }
    out.push_back('}');
    return true;
  }

  std::vector<Value> values_;
  std::vector<std::unique_ptr<std::string>> decoded_;
};

}  // namespace

std::string canonical(const boost::json::value& value) {
  std::string out;
  append(out, value);
  return out;
}

Digest sha256(std::string_view bytes) {
  // Looking up the algorithm costs several times as much as hashing a token. So the process does it once, and each
  // thread keeps one context.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  static thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                                            EVP_MD_CTX_free);
  Digest digest;
  const bool done = context != nullptr && EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1 &&
                    EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1;
  if (!done) throw std::bad_alloc();  // running out of memory is the only way to fail
  return digest;
}

std::string base64url(const Digest& digest) {
  return base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()}, Base64::url);
}

std::string hex(const Digest& digest) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(digest.size() * 2);
  for (const auto byte : digest) {
    out.push_back(kHex[byte >> 4U]);
    out.push_back(kHex[byte & 0xFU]);
  }
  return out;
}

Result<std::string> canonical_text(std::string_view text) {
  constexpr std::size_t kMaxDepth = 128;
  auto tokens = Tokens::of(text, kMaxDepth);
  if (!tokens) return std::unexpected(tokens.error());
  TextWriter writer;
  if (!writer.read(*tokens) || !tokens->done()) return std::unexpected(errors::invalid("the text is not JSON"));
  std::string out;
  out.reserve(text.size());
  if (!writer.write(out))
    return std::unexpected(errors::invalid("an object has a key twice, or a number is too large"));
  return out;
}

Result<Digest> canonical_hash(std::string_view text) {
  const auto written = canonical_text(text);
  if (!written) return std::unexpected(written.error());
  return sha256(*written);
}

}  // namespace proteus::json
