// proteus admin-secret: for the owner of the data directory, also while a gateway runs on it.
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/terminal.hpp"
#include "app/config/load.hpp"
#include "app/serving/admin_secret.hpp"

namespace proteus::app {
namespace {

ExitCode print_secret(const ConfigFlags& flags) {
  const LoadedConfig loaded = load_config(flags, process_environment(), Purpose::check);
  if (!loaded.outcome.config) {
    fmt::print(stderr, "proteus: the configuration has faults; `proteus check` shows them\n");
    return ExitCode::usage;
  }
  const auto secret = admin_secret_in_use(*loaded.outcome.config);
  if (!secret) {
    fmt::print(stderr, "proteus: {}\n", one_line(secret.error().message()));
    return ExitCode::problems;
  }
  fmt::print("{}\n", secret->reveal());
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
  command->callback([options, &invocation] {
    ConfigFlags flags;
    if (!options->file.empty()) flags.file = options->file;
    if (!options->data.empty()) flags.overrides.data = options->data;
    invocation.exit_code = print_secret(flags);
  });
}

}  // namespace proteus::app
