#include "app/dataset_command.hpp"

#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

namespace proteus::app {
namespace {

using Options = std::shared_ptr<DatasetOptions>;

CLI::App* add(CLI::App& group, const std::string& name, const std::string& help, const Options& options,
              Invocation& invocation, ExitCode (*run)(const DatasetOptions&)) {
  CLI::App* const command = group.add_subcommand(name, help);
  command->add_flag("--json", options->json, "Print JSON, for programs");
  command->callback([options, &invocation, run] { invocation.exit_code = run(*options); });
  return command;
}

void add_place(CLI::App& command, const Options& options) {
  command.add_option("--config", options->config, "The file; by default $PROTEUS_CONFIG, then ./proteus.toml")
      ->type_name("FILE");
  command.add_option("--data", options->data, "The data directory, which has the pepper")->type_name("DIR");
  command.add_option("--mappings", options->mappings, "The directory of mappings, instead of what the file says")
      ->type_name("DIR");
}

}  // namespace

void add_dataset_command(CLI::App& app, Invocation& invocation) {
  CLI::App* const group = app.add_subcommand("dataset", "Propose, check and ratify what agents may read of databases");
  group->require_subcommand(1);
  auto options = std::make_shared<DatasetOptions>();

  CLI::App* const propose =
      add(*group, "propose", "Draft a mapping from what a database has", options, invocation, propose_dataset);
  propose->add_option("--name", options->name, "What the dataset is to be called")->required();
  propose->add_option("--dsn-env", options->dsn_env, "The environment variable with the address of the database")
      ->required()
      ->type_name("VARIABLE");
  propose->add_option("--schema", options->schema, "The schema of PostgreSQL")->capture_default_str();
  propose->add_option("--ontology", options->ontology, "Types the draft is to use")->type_name("FILE");
  propose->add_option("--out", options->out, "Where to write the draft; standard output by default")->type_name("FILE");
  propose->add_flag("--force", options->force, "Overwrite a file that differs from the draft");

  CLI::App* const validate = add(*group, "validate", "Hold a mapping against its database and an ontology", options,
                                 invocation, validate_dataset);
  validate->add_option("FILE", options->file, "The mapping")->required();
  validate->add_option("--ontology", options->ontology, "By default ontology.toml beside the mapping, if there is one")
      ->type_name("FILE");

  CLI::App* const ratify =
      add(*group, "ratify", "Approve a mapping, so that agents may connect it", options, invocation, ratify_dataset);
  ratify->add_option("FILE", options->file, "The mapping")->required();
  ratify->add_option("--by", options->by, "Who approves it")->required()->type_name("WHO");
  ratify->add_option("--ontology", options->ontology, "By default ontology.toml in the directory of mappings")
      ->type_name("FILE");
  add_place(*ratify, options);

  CLI::App* const revoke =
      add(*group, "revoke", "Take an approval back, and disconnect the dataset", options, invocation, revoke_dataset);
  revoke->add_option("NAME", options->name, "The dataset")->required();
  revoke->add_option("--by", options->by, "Who takes it back")->required()->type_name("WHO");
  add_place(*revoke, options);

  CLI::App* const disconnect =
      add(*group, "disconnect", "Take the tool of a connected dataset away, at a running gateway", options, invocation,
          disconnect_dataset);
  disconnect->add_option("NAME", options->name, "The dataset")->required();
  options->target.add_options(*disconnect);

  add_place(*add(*group, "list", "Show all mappings and whether they are ratified", options, invocation, list_datasets),
            options);
}

}  // namespace proteus::app
