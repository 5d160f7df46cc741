#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/config/read_config.hpp"

// From the disk to a configuration.
namespace proteus::app {

struct ConfigFlags {
  std::optional<std::string> file = {};  // --config
  Overrides overrides = {};
};

struct LoadedConfig {
  ConfigOutcome outcome;
  std::optional<std::string> file;               // the one in use; none: built-in defaults
  std::vector<std::filesystem::path> read_from;  // what to watch: the file, and contexts/ beside it
};

// The file of the flags, else of $PROTEUS_CONFIG, else ./proteus.toml where there is one. One that is named and cannot
// be read is a fault.
LoadedConfig load_config(const ConfigFlags& flags, const Environment& environment, Purpose purpose);

}  // namespace proteus::app
