#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::gateway {

// More than a person reads. A longer question is not asked: nobody may confirm what was not shown.
inline constexpr std::size_t kLongestQuestion = std::size_t{64} << 10U;

// What a person reads before a call runs: the tool, and a line `name: value` for each argument, whole. No argument can
// pass for another one, or for a part of the question: each stays on its line, and a text that is not plain is quoted,
// with line breaks and with characters that are invisible or change the direction escaped.
//
// `arguments` are the members of a JSON object, without its braces. Fails where the question would be too long.
Result<std::string> confirmation_text(std::string_view tool, std::string_view arguments);

}  // namespace proteus::gateway
