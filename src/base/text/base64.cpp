#include "base/text/base64.hpp"

#include <array>
#include <cstdint>

namespace proteus {
namespace {

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<std::int8_t, 256> reverse(std::string_view alphabet) {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return table;
}

constexpr auto kFromStandard = reverse(kStandard);
constexpr auto kFromUrl = reverse(kUrl);

}  // namespace

std::string base64_encode(std::string_view bytes, Base64 alphabet) {
  const std::string_view letters = alphabet == Base64::standard ? kStandard : kUrl;
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : bytes) {
    group = (group << 8U) | static_cast<unsigned char>(c);
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      out.push_back(letters[(group >> bits) & 0x3FU]);
    }
  }
  if (bits > 0) out.push_back(letters[(group << (6 - bits)) & 0x3FU]);
  while (alphabet == Base64::standard && out.size() % 4 != 0)
    out.push_back('=');
  return out;
}

std::optional<std::string> base64_decode(std::string_view text, Base64 alphabet) {
  if (alphabet == Base64::standard) {
    if (text.size() % 4 != 0) return std::nullopt;
    if (text.ends_with("==")) {
      text.remove_suffix(2);
    } else if (text.ends_with('=')) {
      text.remove_suffix(1);
    }
  }
  if (text.size() % 4 == 1) return std::nullopt;
  const auto& table = alphabet == Base64::standard ? kFromStandard : kFromUrl;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const auto value = table[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    group = (group << 6U) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out.push_back(static_cast<char>((group >> bits) & 0xFFU));
    }
  }
  if ((group & ((1U << bits) - 1)) != 0) return std::nullopt;
  return out;
}

}  // namespace proteus
