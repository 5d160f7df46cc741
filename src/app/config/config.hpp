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
#include "base/secrets/secret.hpp"
#include "providers/upstream_entry.hpp"

namespace proteus::app {

struct DatasetSettings {
  std::string mappings = "mappings";
  bool named = false;                    // whether the file or the environment sets `mappings`
  std::vector<std::string> environment;  // variables that datasets proposed over the admin API may name

  friend bool operator==(const DatasetSettings&, const DatasetSettings&) = default;
};

const json::Binding<DatasetSettings>& dataset_binding();

// Secrets that come only from the environment.
struct MasterSecrets {
  std::optional<Secret> pepper;
  std::optional<Secret> previous_pepper;
  std::optional<Secret> admin_secret;

  friend bool operator==(const MasterSecrets&, const MasterSecrets&) = default;
};

// The complete configuration: built-in defaults, overridden by the file, the environment and the command line. A value;
// making one opens no connection and resolves no name. Paths in the file are relative to the file, and are stored
// relative to the working directory or absolute.
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
  providers::UpstreamSettings upstream_defaults;  // also for upstreams registered at runtime
  std::vector<providers::UpstreamEntry> upstreams;
  DatasetSettings datasets;
  SearchSettings search;
  ClusterSettings cluster;
  TelemetrySettings telemetry;
  std::map<std::string, ContextSettings> contexts;  // including inherited keys
  std::map<std::string, SchemaSettings> schemas;
  BrokenManifests broken;

  // Whether `server.listen` and `server.ops_listen` are loopback addresses. Ignores the listener for peers.
  bool is_loopback_only() const;
  // Returns the environment variables that hold secrets of Proteus itself, which no upstream may receive. The client
  // secrets of issuers are not among them: those issuers may receive them.
  std::vector<std::string> own_secret_variables() const;

  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace proteus::app
