#pragma once

#include <deque>
#include <string>
#include <vector>

#include "app/config/read_config.hpp"
#include "app/config/toml_document.hpp"

// Shared by the parts of `read_config`.
namespace proteus::app {

// A parsed file. Does not move while the configuration is read.
struct Source {
  std::string name;
  TomlDocument document;
};

// Collects diagnostics with their positions in the files.
class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  void add(Severity severity, const Source& source, const std::vector<json::Fault>& faults);
  // Adds a diagnostic about a variable or an option.
  void add(Severity severity, std::string path, std::string message);

  // Whether a fault was added, even one beyond kMaxDiagnostics.
  bool refused() const { return refused_; }
  // Returns the collected diagnostics, unsorted.
  std::vector<Diagnostic> take() { return std::move(all_); }

 private:
  bool refused_ = false;
  std::vector<Diagnostic> all_;
};

// [contexts.*] and [schemas.*] of the main file, and the files of contexts/. Such a file has these sections, or the
// keys of one context or one schema. In the second case, the file name without its extension is the name.
struct ContextSources {
  const Source* main = nullptr;  // null if there is none
  const boost::json::value* contexts = nullptr;
  const boost::json::value* schemas = nullptr;
  const std::deque<Source>* files = nullptr;
};
void read_contexts(const ContextSources& sources, Config& config, Diagnostics& diagnostics);

// Overrides settings of the file with environment variables.
void apply_environment(const Environment& environment, Config& config, Diagnostics& diagnostics);
// Applies the variables that set defaults of upstreams. Must run before upstreams are read.
void apply_upstream_environment(const Environment& environment, providers::UpstreamSettings& defaults,
                                Diagnostics& diagnostics);
void apply_overrides(const Overrides& overrides, Config& config, Diagnostics& diagnostics);

// Checks conditions between keys of different sections, and reads the values of tokens and keys from the environment
// and from files.
struct CrossCheck {
  const Environment& environment;
  Purpose purpose;
  const std::function<Result<>(const TlsSettings&)>& check_tls;                    // may be empty
  const std::function<Result<std::string>(const std::string& file)>& read_secret;  // may be empty
  std::optional<Clock::Wall> now = {};
  json::Faults faults = {};
  json::Faults warnings = {};

  void run(Config& config);
};

// Returns the fault of a variable that is not set.
std::string unset(const std::string& variable);

// Runs the part of CrossCheck that concerns [cluster].
void check_cluster(Config& config, CrossCheck& check);

}  // namespace proteus::app
