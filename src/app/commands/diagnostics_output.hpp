#pragma once

#include <string_view>

#include "app/config/load.hpp"

// What a program that writes a log says besides, on standard error: plain text for people, or lines of the log where
// that is in JSON.
namespace proteus::app {

// Everything there is to say about a configuration.
void print_diagnostics(const LoadedConfig& loaded, log::Format format);

// Why the program ends.
void print_failure(std::string_view message, log::Format format);

}  // namespace proteus::app
