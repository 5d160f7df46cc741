#pragma once

#include <string>

namespace proteus::app {

// Every key of the configuration with type, default and meaning, as Markdown tables, from the tables that read the
// file. docs/configuration.md ends with it.
std::string configuration_reference();

}  // namespace proteus::app
