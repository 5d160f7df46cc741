#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/config/config.hpp"
#include "app/config/diagnostic.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"

// From texts to a configuration: no file is opened here, no name resolved, nothing connected to.
namespace proteus::app {

struct SourceFile {
  std::string name;  // as it is shown
  std::string text;
};

struct ConfigSources {
  std::optional<SourceFile> main = {};             // none: built-in defaults
  std::vector<SourceFile> contexts = {};           // those of contexts/ beside it
  std::set<std::string> unreadable_contexts = {};  // names of those that are there and could not be read
  // Whether the files can be served with. None: nobody is going to.
  std::function<Result<>(const TlsSettings&)> check_tls = {};
  // By which dates in the past are told; none: nobody wants to know.
  std::optional<Clock::Wall> now = {};
  // What a file holds that is named by `token_file` or `secret_file`. None: nobody wants to know.
  std::function<Result<std::string>(const std::string& file)> read_secret = {};
};

// Of the command line; they win over the environment, which wins over the file.
struct Overrides {
  std::optional<std::string> listen = {};
  std::optional<std::string> data = {};
};

// A token whose variable is not set, or whose file cannot be read, is a fault for `serve`. For `check` it is a warning:
// the machine that checks a file need not be the one that has the secrets.
enum class Purpose : std::uint8_t { check, serve };

struct ConfigOutcome {
  std::optional<Config> config;  // none where there was a fault
  log::Settings log;             // also then, as far as it could be read
  std::vector<Diagnostic> diagnostics;
};

// Reports everything that is wrong, up to kMaxDiagnostics.
inline constexpr std::size_t kMaxDiagnostics = 1000;
ConfigOutcome read_config(const ConfigSources& sources, const Overrides& overrides, const Environment& environment,
                          Purpose purpose);

}  // namespace proteus::app
