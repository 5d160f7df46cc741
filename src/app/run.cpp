#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/terminal.hpp"
#include "base/settings/nearest.hpp"

namespace proteus::app {
namespace {

std::string unknown(std::string_view what, const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  return fmt::format("there is no {} {}{}", what, one_line(word), did_you_mean(word, candidates));
}

// Describes the first unknown word on the command line; empty if all words are known.
std::string unknown_word(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty())
    command = command->get_subcommands().front();
  for (const std::string& word : app.remaining(true)) {
    if (word.starts_with('-')) {
      std::vector<std::string> options;
      for (const CLI::Option* const option : command->get_options()) {
        for (const std::string& name : option->get_lnames())
          options.push_back("--" + name);
      }
      return unknown("option", word.substr(0, word.find('=')), options);
    }
    std::vector<std::string> commands;
    for (const CLI::App* const other : command->get_subcommands([](const CLI::App*) { return true; }))
      commands.push_back(other->get_name());
    if (!commands.empty()) return unknown("command", word, commands);
  }
  return {};
}

}  // namespace

ExitCode run(std::vector<std::string> arguments) {
  Invocation invocation;
  // CLI11 drops `--`, and with it where the program's command line begins.
  if (const auto dashes = std::ranges::find(arguments, "--"); dashes != arguments.end()) {
    invocation.behind_dashes.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  CLI::App app("A gateway for the Model Context Protocol (MCP), and a client for any MCP server", "proteus");
  app.set_version_flag("--version", "proteus " PROTEUS_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  add_serve_command(app, invocation);
  add_stdio_command(app, invocation);
  add_check_command(app, invocation);
  add_admin_secret_command(app, invocation);
  add_client_command(app, invocation);
  add_tools_command(app, invocation);
  add_token_command(app, invocation);
  add_connections_command(app, invocation);
  add_dataset_command(app, invocation);
  add_store_command(app, invocation);

  std::ranges::reverse(arguments);
  try {
    app.parse(arguments);
  } catch (const CLI::Success& wanted) {  // help or version
    app.exit(wanted);
    return ExitCode::done;
  } catch (const CLI::ParseError& fault) {
    if (const std::string why = unknown_word(app); !why.empty()) {
      fmt::print(stderr, "proteus: {}\nRun with --help for more information.\n", why);
    } else {
      app.exit(fault);
    }
    return ExitCode::usage;
  }
  return invocation.exit_code;
}

}  // namespace proteus::app
