#pragma once

#include <cstdint>
#include <optional>

#include <proteus/error.hpp>

#include "base/log/log.hpp"

// The last message of a program that cannot continue.
namespace proteus::app {

// Installs a terminate handler: an uncaught exception ends the program with one line on standard error, in this format,
// that names the exhausted resource or the exception. Writing the line allocates no memory.
void install_last_words(log::Format format);

// Returns the limit on the process's address space (ulimit -v), or nothing if there is none.
std::optional<std::uint64_t> address_space_limit();
// Fails if the limit is so low that the program would die under its first requests.
Result<> check_address_space(std::optional<std::uint64_t> limit);

}  // namespace proteus::app
