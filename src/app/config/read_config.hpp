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
#include "base/settings/environment.hpp"

// Makes a configuration from texts. Resolves no name and makes no connection; callbacks read other files.
namespace proteus::app {

struct SourceFile {
  std::string name;  // as shown in diagnostics
  std::string text;
};

struct ConfigSources {
  std::optional<SourceFile> main = {};             // none: built-in defaults
  std::vector<SourceFile> contexts = {};           // files of contexts/ beside the main file
  std::set<std::string> unreadable_contexts = {};  // contexts whose file could not be read
  // Checks that a server can use these TLS files. Empty to skip the check.
  std::function<Result<>(const TlsSettings&)> check_tls = {};
  // The time by which tokens count as expired. None to skip that warning.
  std::optional<Clock::Wall> now = {};
  // Reads a file that `token_file` or `secret_file` names. Empty to leave such secrets unread.
  std::function<Result<std::string>(const std::string& file)> read_secret = {};
};

// Options of the command line. They override the environment, which overrides the file.
struct Overrides {
  std::optional<std::string> listen = {};
  std::optional<std::string> data = {};
};

// For `serve`, a token whose variable is not set or whose file cannot be read is a fault. For `check` it is a warning:
// the machine that checks a file need not have the secrets.
enum class Purpose : std::uint8_t { check, serve };

struct ConfigOutcome {
  std::optional<Config> config;  // none if there is a fault
  log::Settings log;             // set even then, as far as it could be read
  std::vector<Diagnostic> diagnostics;
};

// Reports everything that is wrong, up to kMaxDiagnostics findings.
inline constexpr std::size_t kMaxDiagnostics = 1000;
ConfigOutcome read_config(const ConfigSources& sources, const Overrides& overrides, const Environment& environment,
                          Purpose purpose);

}  // namespace proteus::app
