#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::json::schema {

// What stands between the braces of `\p{...}` in ECMA-262, as members of an RE2 character class: "Letter"
// gives
// `\p{L}`, "Script=Greek" gives `\p{Greek}`. Whether RE2 knows a script is only seen when it compiles.
Result<std::string> unicode_property_members(std::string_view property);

}  // namespace proteus::json::schema
