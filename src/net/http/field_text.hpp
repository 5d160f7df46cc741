#pragma once

#include <string_view>

// Helpers for the text of header fields.
namespace proteus::net {

// Removes spaces and tabs at both ends.
std::string_view trim_blanks(std::string_view text);

// Whether no field may contain the character: it is a control character other than tab.
constexpr bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }
bool has_control(std::string_view value);

}  // namespace proteus::net
