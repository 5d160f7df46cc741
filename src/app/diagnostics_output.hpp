#pragma once

#include "app/config/load.hpp"

namespace proteus::app {

// Everything there is to say about a configuration, on standard error.
void print_diagnostics(const LoadedConfig& loaded);

}  // namespace proteus::app
