#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::gateway {

// More than a person reads. A longer question is not asked, because nobody may confirm what was not shown.
inline constexpr std::size_t kLongestQuestion = std::size_t{64} << 10U;

// Returns what a person reads before a call runs: the tool, and one line `name: value` for each argument, uncut. No
// argument can imitate another one or a part of the question: each stays on its line, and a text that is not plain is
// quoted. Line breaks, invisible characters and characters that change the writing direction are escaped.
//
// `arguments` are the members of a JSON object, without its braces. Fails if the question would be longer than
// kLongestQuestion.
Result<std::string> confirmation_text(std::string_view tool, std::string_view arguments);

}  // namespace proteus::gateway
