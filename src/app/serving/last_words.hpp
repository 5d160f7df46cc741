#pragma once

#include <cstdint>
#include <optional>

#include <proteus/error.hpp>

#include "base/log.hpp"

// What the program says when it cannot go on.
namespace proteus::app {

// From now on, an exception that nobody catches ends the program with a line on standard error, in this format, that
// says what was exhausted or thrown. Writing it takes no memory.
void install_last_words(log::Format format);

// The limit on the process's address space (ulimit -v); nothing where there is none.
std::optional<std::uint64_t> address_space_limit();
// Fails where the limit is so low that the program would die under its first requests.
Result<> check_address_space(std::optional<std::uint64_t> limit);

}  // namespace proteus::app
