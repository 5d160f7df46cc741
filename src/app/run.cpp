#include <algorithm>
#include <cstdio>
#include <iostream>

#include <CLI/CLI.hpp>

#include "app/command.hpp"

namespace proteus::app {

ExitCode run(std::vector<std::string> arguments) {
  Invocation invocation;
  // CLI11 drops the dashes, and with them where a program begins.
  if (const auto dashes = std::ranges::find(arguments, "--"); dashes != arguments.end()) {
    invocation.behind_dashes.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  CLI::App app("A dynamic gateway for the Model Context Protocol, and a client for any server of it", "proteus");
  app.set_version_flag("--version", "proteus " PROTEUS_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  add_serve_command(app, invocation);
  add_check_command(app, invocation);
  add_admin_secret_command(app, invocation);
  add_client_command(app, invocation);
  add_tools_command(app, invocation);
  add_dataset_command(app, invocation);

  std::ranges::reverse(arguments);
  try {
    app.parse(arguments);
  } catch (const CLI::Success& wanted) {  // help, or the version
    app.exit(wanted);
    return ExitCode::done;
  } catch (const CLI::ParseError& fault) {
    app.exit(fault);
    return ExitCode::usage;
  }
  return invocation.exit_code;
}

}  // namespace proteus::app
