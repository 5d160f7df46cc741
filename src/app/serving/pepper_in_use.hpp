#pragma once

#include <string>

#include <proteus/error.hpp>

#include "app/config/config.hpp"
#include "store/pepper.hpp"

// For commands that work beside a gateway.
namespace proteus::app {

// Loads the configuration of a gateway with these options; an empty text means that an option was not given. Fails with
// `invalid` if the configuration has faults.
Result<Config> config_beside(const std::string& file, const std::string& data);

// Returns the pepper that a gateway with this configuration uses: the configured one, else that of the data directory.
// Does not lock the data directory. Fails with `not_found` if the data directory has none, and with `invalid` for a
// cluster whose pepper is not configured: the processes do not use that of a data directory.
Result<store::Pepper> pepper_in_use(const Config& config);

}  // namespace proteus::app
