#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace proteus::app {

// 0 done, 1 the operation found problems, 2 bad usage or configuration.
enum class ExitCode : int { done = 0, problems = 1, usage = 2 };

// The parts of an invocation that CLI11 does not handle.
struct Invocation {
  std::vector<std::string> behind_dashes;  // after "--": a program and its arguments
  ExitCode exit_code = ExitCode::done;     // set by the command that ran
};

// Each subcommand has its own file and is added by a function there. Both arguments must outlive the parsing, which
// runs the command.
void add_admin_secret_command(CLI::App& app, Invocation& invocation);
void add_check_command(CLI::App& app, Invocation& invocation);
void add_client_command(CLI::App& app, Invocation& invocation);
void add_connections_command(CLI::App& app, Invocation& invocation);
// Adds `login` and `logout` to `proteus client`.
void add_login_commands(CLI::App& client, Invocation& invocation);
void add_dataset_command(CLI::App& app, Invocation& invocation);
void add_stdio_command(CLI::App& app, Invocation& invocation);
void add_serve_command(CLI::App& app, Invocation& invocation);
void add_store_command(CLI::App& app, Invocation& invocation);
void add_token_command(CLI::App& app, Invocation& invocation);
void add_tools_command(CLI::App& app, Invocation& invocation);

// Runs `proteus` with the arguments that follow the program's name.
ExitCode run(std::vector<std::string> arguments);

}  // namespace proteus::app
