#pragma once

#include <string>

namespace proteus::app {

// Returns all configuration keys with type, default and meaning, as Markdown tables made from the bindings that read
// the file. docs/configuration.md ends with this text.
std::string configuration_reference();

}  // namespace proteus::app
