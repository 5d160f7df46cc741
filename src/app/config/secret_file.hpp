#pragma once

#include <string>

#include <proteus/error.hpp>

namespace proteus::app {

// The one line of a file that holds a token or a key. Who may read the file is its owner's business: files that an
// orchestrator mounts are often open to all users of their container. The message of a fault reads on from the name of
// the file.
Result<std::string> read_secret_file(const std::string& file);

}  // namespace proteus::app
