#include "json/canonical.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <openssl/evp.h>

#include "json/text.hpp"

namespace proteus::json {
namespace {

// RFC 8785 orders keys by UTF-16 code units. That differs from byte order only where one key has a character
// above the basic plane (four bytes in UTF-8, surrogates D800-DFFF in UTF-16) against one from E000-FFFF.
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

}  // namespace

std::string canonical(const boost::json::value& value) {
  std::string out;
  append(out, value);
  return out;
}

Digest sha256(std::string_view bytes) {
  // To look the algorithm up costs several times what hashing a token does: once by the process, and a context by each
  // thread.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  static thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                                            EVP_MD_CTX_free);
  Digest digest;
  const bool done = context != nullptr && EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1 &&
                    EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1;
  if (!done) throw std::bad_alloc();  // it has no other way to fail
  return digest;
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

Result<Digest> canonical_hash(std::string_view text) {
  auto value = parse(text);
  if (!value) return std::unexpected(value.error());
  return sha256(canonical(*value));
}

}  // namespace proteus::json
