#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proteus {

enum class Base64 { standard, url };  // with padding; URL alphabet without padding

std::string base64_encode(std::string_view bytes, Base64 alphabet = Base64::standard);
// Returns nothing unless the text has the exact alphabet, the exact padding and no stray bits. Each byte string has one
// encoding, so a text that was altered in any way decodes to something else or not at all.
std::optional<std::string> base64_decode(std::string_view text, Base64 alphabet = Base64::standard);

}  // namespace proteus
