#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/config/auth_settings.hpp"
#include "app/config/cluster_settings.hpp"
#include "app/config/context_settings.hpp"
#include "app/config/limit_settings.hpp"
#include "app/config/log_settings.hpp"
#include "app/config/search_settings.hpp"
#include "app/config/server_settings.hpp"
#include "app/config/telemetry_settings.hpp"
#include "base/secret.hpp"
#include "providers/upstream_entry.hpp"

namespace proteus::app {

struct DatasetSettings {
  std::string mappings = "mappings";
  bool named = false;                    // by the file or the environment, rather than by default
  std::vector<std::string> environment;  // variables that datasets which come over the admin API may name

  friend bool operator==(const DatasetSettings&, const DatasetSettings&) = default;
};

const json::Binding<DatasetSettings>& dataset_binding();

// Only ever from the environment.
struct MasterSecrets {
  std::optional<Secret> pepper;
  std::optional<Secret> previous_pepper;
  std::optional<Secret> admin_secret;

  friend bool operator==(const MasterSecrets&, const MasterSecrets&) = default;
};

// Everything that is configured, whatever it came from: built-in defaults, the file, the environment, the command line.
// A value; making one opens no connection and resolves no name. Paths of the file are relative to the file, and have
// been made relative to the working directory or absolute.
struct Config {
  std::filesystem::path data_directory = "proteus-data";
  MasterSecrets secrets;
  ServerSettings server;
  AuthSettings auth;
  AdminSettings admin;
  SessionSettings sessions;
  EgressSettings egress;
  LimitSettings limits;
  log::Settings log;
  providers::UpstreamSettings upstream_defaults;  // the base of upstreams registered at runtime, too
  std::vector<providers::UpstreamEntry> upstreams;
  DatasetSettings datasets;
  SearchSettings search;
  ClusterSettings cluster;
  TelemetrySettings telemetry;
  std::map<std::string, ContextSettings> contexts;  // with what they inherit
  std::map<std::string, SchemaSettings> schemas;
  BrokenManifests broken;

  // Whether every listener is.
  bool is_loopback_only() const;
  // The environment variables that hold secrets of ours: what is known by them is known by nobody else.
  std::vector<std::string> own_secret_variables() const;

  friend bool operator==(const Config&, const Config&) = default;
};

// What a reload does to upstreams, by name, each list in the order of the configuration that has them.
struct UpstreamChanges {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> changed;
  bool reordered = false;  // those in both come in another order, which decides who wins a name

  bool empty() const { return added.empty() && removed.empty() && changed.empty() && !reordered; }
};
UpstreamChanges compare_upstreams(const Config& before, const Config& after);

}  // namespace proteus::app
