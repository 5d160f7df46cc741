#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proteus {

enum class Base64 { standard, url };  // with padding, or with the URL alphabet and none

std::string base64_encode(std::string_view bytes, Base64 alphabet = Base64::standard);
// Strict: the exact alphabet, the exact padding, no stray bits. Each byte string has one spelling, so that a
// text altered in any way decodes to something else or not at all.
std::optional<std::string> base64_decode(std::string_view text, Base64 alphabet = Base64::standard);

}  // namespace proteus
