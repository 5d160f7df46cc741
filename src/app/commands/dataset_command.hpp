#pragma once

#include <string>

#include "app/commands/admin_client.hpp"
#include "app/commands/command.hpp"

// `proteus dataset`: what a data owner does with mappings. Works beside a running gateway, which sees the files change;
// what only a running gateway knows, such as what is connected, goes through its admin API.
namespace proteus::app {

struct DatasetOptions {
  std::string config;
  std::string data;
  std::string mappings;  // the directory, instead of what the configuration says
  bool json = false;

  std::string name;
  std::string dsn_env;
  std::string schema = "public";
  std::string ontology;
  std::string out;
  bool force = false;  // overwrite what is there
  std::string file;
  std::string by;
  AdminTarget target;
};

ExitCode propose_dataset(const DatasetOptions& options);
ExitCode validate_dataset(const DatasetOptions& options);
ExitCode ratify_dataset(const DatasetOptions& options);
ExitCode revoke_dataset(const DatasetOptions& options);
ExitCode list_datasets(const DatasetOptions& options);
ExitCode disconnect_dataset(const DatasetOptions& options);

}  // namespace proteus::app
