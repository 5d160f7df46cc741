#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::json::schema {

// An ECMA-262 regular expression (with the `u` flag, as JSON Schema asks) in the syntax of RE2, matching the
// same texts. Groups lose their captures. Fails as `invalid` for broken syntax and as `unsupported` for what
// has no linear-time form, lookaround and backreferences, or has no counterpart in RE2.
Result<std::string> translate_ecma_pattern(std::string_view pattern);

}  // namespace proteus::json::schema
