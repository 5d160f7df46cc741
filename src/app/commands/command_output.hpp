#pragma once

#include <string_view>

#include <proteus/error.hpp>

#include "app/commands/command.hpp"

namespace proteus::app {

// Writes to standard output at once.
void print_out(std::string_view text);
// Returns `usage` if the command line or the configuration is unusable, else `problems`.
ExitCode code_of(const Error& error);
// Prints the error and returns its code.
ExitCode refuse(const Error& error);

}  // namespace proteus::app
