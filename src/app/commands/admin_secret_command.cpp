// proteus admin-secret: prints the admin secret to the owner of the data directory, also while a gateway runs.
#include <memory>

#include <CLI/CLI.hpp>

#include "app/commands/command.hpp"
#include "app/commands/command_output.hpp"
#include "app/serving/admin_secret.hpp"
#include "app/serving/pepper_in_use.hpp"

namespace proteus::app {
namespace {

ExitCode print_secret(const std::string& file, const std::string& data) {
  const auto config = config_beside(file, data);
  if (!config) return refuse(config.error());
  const auto secret = admin_secret_in_use(*config);
  if (!secret) return refuse(secret.error());
  print_out(secret->reveal() + "\n");
  return ExitCode::done;
}

}  // namespace

void add_admin_secret_command(CLI::App& app, Invocation& invocation) {
  struct Options {
    std::string file;
    std::string data;
  };
  auto options = std::make_shared<Options>();
  CLI::App* const command = app.add_subcommand("admin-secret", "Print the admin secret in use");
  command->add_option("--config", options->file, "Configuration file; by default $PROTEUS_CONFIG, then ./proteus.toml")
      ->type_name("FILE");
  command->add_option("--data", options->data, "Data directory")->type_name("DIR");
  command->callback([options, &invocation] { invocation.exit_code = print_secret(options->file, options->data); });
}

}  // namespace proteus::app
