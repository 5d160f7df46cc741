#pragma once

#include <string>
#include <string_view>

namespace proteus::datasets {

// A basic string of TOML: JSON's escapes, and no raw control character.
std::string toml_quoted(std::string_view text);

}  // namespace proteus::datasets
