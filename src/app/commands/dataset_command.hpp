#pragma once

#include <string>

#include "app/commands/admin_client.hpp"
#include "app/commands/command.hpp"

// `proteus dataset`: the commands with which a data owner manages mappings. They work beside a running gateway, which
// notices changes of the files. `disconnect` uses the admin API, because only the gateway knows what is connected.
namespace proteus::app {

struct DatasetOptions {
  std::string config;
  std::string data;
  std::string mappings;  // directory of mappings; empty: from the configuration
  bool json = false;

  std::string name;
  std::string dsn_env;
  std::string schema = "public";
  std::string ontology;
  std::string out;
  bool force = false;  // overwrite an existing file
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
