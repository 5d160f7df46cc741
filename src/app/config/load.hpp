#pragma once

#include <optional>
#include <string>

#include "app/config/file_watch.hpp"
#include "app/config/read_config.hpp"

// Loads the configuration from disk.
namespace proteus::app {

struct ConfigFlags {
  std::optional<std::string> file = {};  // --config
  Overrides overrides = {};

  // An empty text means that the option was not given.
  static ConfigFlags of(const std::string& file, const std::string& data = {}, const std::string& listen = {});
};

struct LoadedConfig {
  ConfigOutcome outcome;
  std::optional<std::string> file;  // the main file; none: built-in defaults
  FileWatch watch;                  // made before reading: the file, contexts/ beside it, and files with secrets
};

enum class TlsFiles : std::uint8_t { unread, checked };  // checked: unusable files are a fault
// Loads the file that the flags name, else $PROTEUS_CONFIG, else ./proteus.toml if it exists. A file that was named but
// cannot be read is a fault.
LoadedConfig load_config(const ConfigFlags& flags, const Environment& environment, Purpose purpose,
                         TlsFiles tls = TlsFiles::unread);

}  // namespace proteus::app
