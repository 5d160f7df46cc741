#include "app/config/read_config.hpp"

#include <deque>

#include <fmt/format.h>

#include "app/config/sections.hpp"
#include "app/config/source_reader.hpp"

namespace proteus::app {
namespace {

using json::Place;

constexpr std::size_t kMaxUpstreams = 10'000;

// Returns null if the text is not TOML.
const Source* parse(const SourceFile& file, Severity severity, std::deque<Source>& sources, Diagnostics& diagnostics) {
  auto document = TomlDocument::parse(file.text);
  if (!document) {
    diagnostics.add({.severity = severity,
                     .file = file.name,
                     .position = document.error().position,
                     .path = {},
                     .pointer = {},
                     .message = std::move(document.error().message)});
    return nullptr;
  }
  const Source& source = sources.emplace_back(file.name, std::move(*document));
  diagnostics.add(severity, source, source.document.faults());
  return &source;
}

void read_upstreams(const Sections& sections, Config& config, const Place& root) {
  if (sections.upstreams == nullptr) return;
  const Place place = root.member("upstreams");
  const auto* list = sections.upstreams->if_array();
  if (list == nullptr) return json::wrong_kind(place, "a list of tables", *sections.upstreams);
  if (list->size() > kMaxUpstreams) return place.fault(fmt::format("has more than {} upstreams", kMaxUpstreams));
  config.upstreams.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i)
    config.upstreams.push_back(providers::read_upstream((*list)[i], config.upstream_defaults, place.item(i)));
}

// Makes the paths of the file relative to the directory of the file.
void resolve_paths(const std::string& file, Config& config) {
  const auto directory = std::filesystem::path(file).parent_path();
  for (std::string* path : {&config.datasets.mappings, &config.server.tls.certificate, &config.server.tls.key}) {
    if (!path->empty()) *path = (directory / *path).string();
  }
  for (TokenSettings& token : config.auth.tokens) {
    if (!token.token_file.empty()) token.token_file = (directory / token.token_file).string();
  }
  for (AdminKey& key : config.admin.keys) {
    if (!key.secret_file.empty()) key.secret_file = (directory / key.secret_file).string();
  }
}

Sections read_sections(const Source* main, Config& config, json::Faults& faults) {
  Sections sections;
  if (main != nullptr) {
    sections_binding().read(main->document.root(), sections, Place(faults));
  }
  config.server = sections.server;
  config.auth = sections.auth;
  config.admin = sections.admin;
  config.sessions = sections.sessions;
  config.egress = sections.egress;
  config.limits = sections.limits;
  config.log = sections.log;
  config.datasets = sections.datasets;
  config.search = sections.search;
  config.cluster = sections.cluster;
  config.telemetry = sections.telemetry;
  if (main != nullptr) {
    const auto* cluster = main->document.root().as_object().if_contains("cluster");
    config.cluster.enabled = cluster != nullptr;
    config.cluster.redis_named =
        cluster != nullptr && cluster->is_object() && cluster->get_object().contains("redis_env");
    const auto* datasets = main->document.root().as_object().if_contains("datasets");
    config.datasets.named = datasets != nullptr && datasets->is_object() && datasets->get_object().contains("mappings");
  }
  if (sections.upstream_defaults != nullptr) {
    const Place root(faults);
    const Place defaults = root.member("defaults");
    providers::read_upstream_defaults(*sections.upstream_defaults, config.upstream_defaults,
                                      defaults.member("upstream"));
  }
  return sections;
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  refused_ = refused_ || diagnostic.severity == Severity::fault;
  if (all_.size() < kMaxDiagnostics) all_.push_back(std::move(diagnostic));
}

void Diagnostics::add(Severity severity, const Source& source, const std::vector<json::Fault>& faults) {
  for (const json::Fault& fault : faults) {
    add({.severity = severity,
         .file = source.name,
         .position = source.document.locate(fault.pointer),
         .path = fault.path,
         .pointer = fault.pointer,
         .message = fault.message});
  }
}

void Diagnostics::add(Severity severity, std::string path, std::string message) {
  add({.severity = severity,
       .file = {},
       .position = {},
       .path = std::move(path),
       .pointer = {},
       .message = std::move(message)});
}

ConfigOutcome read_config(const ConfigSources& sources, const Overrides& overrides, const Environment& environment,
                          Purpose purpose) {
  Config config;
  Diagnostics diagnostics;
  std::deque<Source> mains;
  const Source* main = sources.main ? parse(*sources.main, Severity::fault, mains, diagnostics) : nullptr;

  json::Faults faults;
  const Sections sections = read_sections(main, config, faults);
  apply_upstream_environment(environment, config.upstream_defaults, diagnostics);
  read_upstreams(sections, config, Place(faults));
  if (sources.main) resolve_paths(sources.main->name, config);
  apply_environment(environment, config, diagnostics);
  apply_overrides(overrides, config, diagnostics);

  config.broken.contexts = sources.unreadable_contexts;
  config.broken.unread_file = !sources.unreadable_contexts.empty();
  std::deque<Source> files;
  for (const SourceFile& file : sources.contexts) {
    if (parse(file, Severity::broken_context, files, diagnostics) != nullptr) continue;
    config.broken.contexts.insert(std::filesystem::path(file.name).stem().string());
    config.broken.unread_file = true;
  }
  read_contexts({.main = main, .contexts = sections.contexts, .schemas = sections.schemas, .files = &files}, config,
                diagnostics);

  CrossCheck check{.environment = environment,
                   .purpose = purpose,
                   .check_tls = sources.check_tls,
                   .read_secret = sources.read_secret,
                   .now = sources.now};
  check.run(config);
  if (main != nullptr) {
    diagnostics.add(Severity::fault, *main, faults.all());
    diagnostics.add(Severity::fault, *main, check.faults.all());
    diagnostics.add(Severity::warning, *main, check.warnings.all());
  }

  ConfigOutcome outcome;
  outcome.log = config.log;
  if (!diagnostics.refused()) outcome.config = std::move(config);
  outcome.diagnostics = diagnostics.take();
  sort_diagnostics(outcome.diagnostics, sources.main ? sources.main->name : "");
  return outcome;
}

}  // namespace proteus::app
