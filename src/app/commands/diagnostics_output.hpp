#pragma once

#include <string_view>

#include "app/config/load.hpp"

// Messages on standard error of commands that write a log: plain text, or log lines if the log is in JSON.
namespace proteus::app {

// Prints all diagnostics of a configuration.
void print_diagnostics(const LoadedConfig& loaded, log::Format format);

// Prints why the program ends.
void print_failure(std::string_view message, log::Format format);

}  // namespace proteus::app
