#pragma once

#include <optional>
#include <string>

#include "app/config/file_watch.hpp"
#include "app/config/read_config.hpp"

// From the disk to a configuration.
namespace proteus::app {

struct ConfigFlags {
  std::optional<std::string> file = {};  // --config
  Overrides overrides = {};
};

struct LoadedConfig {
  ConfigOutcome outcome;
  std::optional<std::string> file;  // the one in use; none: built-in defaults
  FileWatch watch;  // the file, contexts/ beside it, and files that hold secrets, from before they were read
};

// The file of the flags, else of $PROTEUS_CONFIG, else ./proteus.toml where there is one. One that is named and cannot
// be read is a fault.
enum class TlsFiles : std::uint8_t { unread, checked };  // checked: a fault where they cannot be served with
LoadedConfig load_config(const ConfigFlags& flags, const Environment& environment, Purpose purpose,
                         TlsFiles tls = TlsFiles::unread);

}  // namespace proteus::app
