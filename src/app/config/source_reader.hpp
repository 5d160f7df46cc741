#pragma once

#include <deque>
#include <string>
#include <vector>

#include "app/config/read_config.hpp"
#include "app/config/toml_document.hpp"

// What the parts of `read_config` share.
namespace proteus::app {

// One file that could be parsed. Stays where it is while the configuration is read.
struct Source {
  std::string name;
  TomlDocument document;
};

// Collects what is found, with the positions of the file it was found in.
class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  void add(Severity severity, const Source& source, const std::vector<json::Fault>& faults);
  // About a variable or an option.
  void add(Severity severity, std::string path, std::string message);

  // Whether there was a fault, kept or not.
  bool refused() const { return refused_; }
  // All that was kept, in no order.
  std::vector<Diagnostic> take() { return std::move(all_); }

 private:
  bool refused_ = false;
  std::vector<Diagnostic> all_;
};

// [contexts.*] and [schemas.*] of the main file, and the files of contexts/. A file there holds such sections, or the
// keys of one context, or those of one schema; then its name, without the ending, is the name.
struct ContextSources {
  const Source* main = nullptr;  // null where there is none
  const boost::json::value* contexts = nullptr;
  const boost::json::value* schemas = nullptr;
  const std::deque<Source>* files = nullptr;
};
void read_contexts(const ContextSources& sources, Config& config, Diagnostics& diagnostics);

// Variables and options over what the file says.
void apply_environment(const Environment& environment, Config& config, Diagnostics& diagnostics);
// The defaults for upstreams among them, which are needed before upstreams are read.
void apply_upstream_environment(const Environment& environment, providers::UpstreamSettings& defaults,
                                Diagnostics& diagnostics);
void apply_overrides(const Overrides& overrides, Config& config, Diagnostics& diagnostics);

// What must hold between keys of different sections. Takes the values of tokens and keys from the environment and from
// files.
struct CrossCheck {
  const Environment& environment;
  Purpose purpose;
  const std::function<Result<>(const TlsSettings&)>& check_tls;                    // may be none
  const std::function<Result<std::string>(const std::string& file)>& read_secret;  // may be none
  std::optional<Clock::Wall> now = {};
  json::Faults faults = {};
  json::Faults warnings = {};

  void run(Config& config);
};

// What [cluster] needs besides its own keys: a part of that.
void check_cluster(Config& config, CrossCheck& check);

}  // namespace proteus::app
