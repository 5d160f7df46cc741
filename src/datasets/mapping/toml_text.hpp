#pragma once

#include <string>
#include <string_view>

namespace proteus::datasets {

// Returns a basic string of TOML: control characters, quotes and backslashes are escaped.
std::string toml_quoted(std::string_view text);

}  // namespace proteus::datasets
