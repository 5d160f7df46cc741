#include "app/commands/dataset_command.hpp"

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
  command
      .add_option("--config", options->config, "Configuration file; by default $PROTEUS_CONFIG, then ./proteus.toml")
      ->type_name("FILE");
  command.add_option("--data", options->data, "Data directory with the pepper")->type_name("DIR");
  command.add_option("--mappings", options->mappings, "Directory of mappings; overrides the file")->type_name("DIR");
}

}  // namespace

void add_dataset_command(CLI::App& app, Invocation& invocation) {
  CLI::App* const group = app.add_subcommand("dataset", "Propose, check and ratify which data agents may read");
  group->require_subcommand(1);
  auto options = std::make_shared<DatasetOptions>();

  CLI::App* const propose =
      add(*group, "propose", "Draft a mapping from a database", options, invocation, propose_dataset);
  propose->add_option("--name", options->name, "Name of the dataset")->required();
  propose->add_option("--dsn-env", options->dsn_env, "Environment variable with the address of the database")
      ->required()
      ->type_name("VARIABLE");
  propose->add_option("--schema", options->schema, "PostgreSQL schema")->capture_default_str();
  propose->add_option("--ontology", options->ontology, "Ontology with the types to use")->type_name("FILE");
  propose->add_option("--out", options->out, "File to write the draft to; by default standard output")
      ->type_name("FILE");
  propose->add_flag("--force", options->force, "Overwrite a file that differs from the draft");

  CLI::App* const validate = add(*group, "validate", "Check a mapping against its database and an ontology", options,
                                 invocation, validate_dataset);
  validate->add_option("FILE", options->file, "The mapping")->required();
  validate
      ->add_option("--ontology", options->ontology,
                   "Ontology; by default ontology.toml beside the mapping, if it exists")
      ->type_name("FILE");

  CLI::App* const ratify =
      add(*group, "ratify", "Approve a mapping, so that agents may connect it", options, invocation, ratify_dataset);
  ratify->add_option("FILE", options->file, "The mapping")->required();
  ratify->add_option("--by", options->by, "Who approves it")->required()->type_name("WHO");
  ratify->add_option("--ontology", options->ontology, "Ontology; by default ontology.toml in the directory of mappings")
      ->type_name("FILE");
  add_place(*ratify, options);

  CLI::App* const revoke =
      add(*group, "revoke", "Withdraw an approval and disconnect the dataset", options, invocation, revoke_dataset);
  revoke->add_option("NAME", options->name, "The dataset")->required();
  revoke->add_option("--by", options->by, "Who withdraws it")->required()->type_name("WHO");
  add_place(*revoke, options);

  CLI::App* const disconnect =
      add(*group, "disconnect", "Disconnect a dataset from a running gateway, which removes its tool", options,
          invocation, disconnect_dataset);
  disconnect->add_option("NAME", options->name, "The dataset")->required();
  options->target.add_options(*disconnect);

  add_place(*add(*group, "list", "Show all mappings and whether they are ratified", options, invocation, list_datasets),
            options);
}

}  // namespace proteus::app
