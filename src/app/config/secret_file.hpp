#pragma once

#include <string>

#include <proteus/error.hpp>

namespace proteus::app {

// Returns the single line of a file that holds a token or a key. Does not check permissions: files that an orchestrator
// mounts are often readable by all users of their container. An error message continues a sentence that begins with the
// name of the file.
Result<std::string> read_secret_file(const std::string& file);

}  // namespace proteus::app
