#pragma once

#include <string_view>

// The text of a header field.
namespace proteus::net {

// Without the blanks around it.
std::string_view trim_blanks(std::string_view text);

// Whether a value holds what no field may hold.
bool has_control(std::string_view value);

}  // namespace proteus::net
