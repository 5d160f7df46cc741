#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace proteus::app {

// 0 done, 1 the operation found problems, 2 bad usage or configuration.
enum class ExitCode : int { done = 0, problems = 1, usage = 2 };

// What the command line has besides what CLI11 reads.
struct Invocation {
  std::vector<std::string> behind_dashes;  // behind "--": a program and its arguments
  ExitCode exit_code = ExitCode::done;     // set by the command that ran
};

// Each subcommand has a file of its own, which adds it. Both arguments outlive the parsing, which runs the command.
void add_admin_secret_command(CLI::App& app, Invocation& invocation);
void add_check_command(CLI::App& app, Invocation& invocation);
void add_client_command(CLI::App& app, Invocation& invocation);
void add_connections_command(CLI::App& app, Invocation& invocation);
// Below `proteus client`.
void add_login_commands(CLI::App& client, Invocation& invocation);
void add_dataset_command(CLI::App& app, Invocation& invocation);
void add_stdio_command(CLI::App& app, Invocation& invocation);
void add_serve_command(CLI::App& app, Invocation& invocation);
void add_store_command(CLI::App& app, Invocation& invocation);
void add_token_command(CLI::App& app, Invocation& invocation);
void add_tools_command(CLI::App& app, Invocation& invocation);

// All of `proteus`: the arguments are those behind the program's name.
ExitCode run(std::vector<std::string> arguments);

}  // namespace proteus::app
