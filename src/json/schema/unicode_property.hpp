#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::json::schema {

// Translates the text between the braces of `\p{...}` in ECMA-262 to members of an RE2 character class: "Letter"
// becomes `\p{L}`, "Script=Greek" becomes `\p{Greek}`. Unknown categories and scripts fail only when RE2 compiles the
// pattern.
Result<std::string> unicode_property_members(std::string_view property);

}  // namespace proteus::json::schema
