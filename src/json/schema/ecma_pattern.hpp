#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::json::schema {

// Translates an ECMA-262 regular expression (with the `u` flag, as JSON Schema requires) to the syntax of RE2, so that
// it matches the same texts. Groups lose their captures. Fails as `invalid` for broken syntax, and as `unsupported` for
// lookaround and backreferences, which have no linear-time form, and for anything else without a counterpart in RE2.
Result<std::string> translate_ecma_pattern(std::string_view pattern);

}  // namespace proteus::json::schema
