#pragma once

#include <optional>
#include <string>

#include "app/config/read_config.hpp"
#include "app/config_watch.hpp"

// From the disk to a configuration.
namespace proteus::app {

struct ConfigFlags {
  std::optional<std::string> file = {};  // --config
  Overrides overrides = {};
};

struct LoadedConfig {
  ConfigOutcome outcome;
  std::optional<std::string> file;  // the one in use; none: built-in defaults
  ConfigWatch watch;                // the file, and contexts/ beside it, from before they were read
};

// The file of the flags, else of $PROTEUS_CONFIG, else ./proteus.toml where there is one. One that is named and cannot
// be read is a fault.
LoadedConfig load_config(const ConfigFlags& flags, const Environment& environment, Purpose purpose);

}  // namespace proteus::app
