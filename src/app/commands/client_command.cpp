// proteus client list | call | watch: talks to any MCP server, of either era.
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "app/commands/ask_user.hpp"
#include "app/commands/client_output.hpp"
#include "app/commands/client_target.hpp"
#include "app/commands/command.hpp"
#include "app/commands/command_output.hpp"
#include "app/commands/json_text.hpp"
#include "app/commands/terminal.hpp"
#include "base/log/log.hpp"

namespace proteus::app {
namespace {

struct ClientOptions {
  ClientTarget target;
  std::vector<std::string> arguments;  // URL, NAME, JSON, if the command takes them
  std::vector<std::string> words;      // the arguments that were given
  bool json = false;
  bool verbose = false;
};

ExitCode complain(ExitCode code, const Error& error) {
  const bool needs_token = error.kind() == ErrorKind::unauthenticated;
  fmt::print(
      stderr, "proteus: {}{}\n", one_line(error.message()),
      needs_token ? "; sign in with `proteus client login URL`, or send a token with --bearer-env VARIABLE" : "");
  return code;
}

// Moves the target out of the words. The URL comes first, unless a program follows `--`. `others` is the maximum number
// of other arguments.
Result<> take_target(ClientOptions& options, const Invocation& invocation, std::size_t others) {
  options.target.command = invocation.behind_dashes;
  const bool has_url = options.target.command.empty();
  if (has_url && options.words.empty())
    return std::unexpected(errors::invalid("a URL is needed, or a command behind --"));
  if (options.words.size() > others + (has_url ? 1 : 0)) {
    return std::unexpected(errors::invalid(fmt::format("\"{}\" is one argument too many", options.words.back())));
  }
  if (has_url) {
    options.target.url = options.words.front();
    options.words.erase(options.words.begin());
  }
  return {};
}

Result<client::McpServer> open(client::McpServer::Builder& builder) {
  auto server = builder.build();
  if (auto opened = server.open(); !opened) return std::unexpected(std::move(opened.error()));
  return server;
}

ExitCode list(ClientOptions& options, const Invocation& invocation) {
  if (auto taken = take_target(options, invocation, 0); !taken) return complain(ExitCode::usage, taken.error());
  auto builder = options.target.builder();
  if (!builder) return complain(ExitCode::usage, builder.error());
  const auto server = open(*builder);
  if (!server) return complain(code_of(server.error()), server.error());
  const Shown shown = options.json ? inventory_json(*server) : show_inventory(*server, Terminal::of(STDOUT_FILENO));
  print_out(shown.text);
  return shown.is_whole ? ExitCode::done : ExitCode::problems;
}

Result<boost::json::object> read_arguments(const std::string& word) {
  std::string text = word;
  if (word == "-") text.assign(std::istreambuf_iterator<char>(std::cin), {});
  boost::system::error_code fault;
  const auto value = boost::json::parse(text, fault);
  if (fault || !value.is_object())
    return std::unexpected(errors::invalid("the arguments must be a JSON object, such as '{\"x\": 1}'"));
  return value.get_object();
}

// Overwrites one line on a terminal; elsewhere prints a line for each report.
void print_progress(const client::Progress& progress, const Terminal& terminal) {
  const std::string text = show_progress(progress);
  if (terminal.is_terminal()) {
    fmt::print(stderr, "\r\x1b[K{}", cut(text, terminal.width()));
  } else {
    fmt::print(stderr, "{}\n", text);
  }
}

ExitCode call(ClientOptions& options, const Invocation& invocation) {
  if (auto taken = take_target(options, invocation, 2); !taken) return complain(ExitCode::usage, taken.error());
  if (options.words.empty()) return complain(ExitCode::usage, errors::invalid("the name of a tool is needed"));
  const auto arguments = read_arguments(options.words.size() > 1 ? options.words[1] : "{}");
  if (!arguments) return complain(ExitCode::usage, arguments.error());
  auto builder = options.target.builder();
  if (!builder) return complain(ExitCode::usage, builder.error());
  if (::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0) {
    builder->on_elicitation([](const client::Elicitation& asked) { return ask_user(asked, std::cin, std::cerr); });
    builder->on_url_elicitation(
        [](const client::Elicitation& asked) { return ask_to_open(asked, std::cin, std::cerr); });
  }
  auto server = open(*builder);
  if (!server) return complain(code_of(server.error()), server.error());

  const Terminal errors_to = Terminal::of(STDERR_FILENO);
  client::CallOptions how;
  bool reported = false;
  how.on_progress = [&](const client::Progress& progress) {
    reported = true;
    print_progress(progress, errors_to);
  };
  const auto result = server->call_tool(options.words[0], *arguments, how);
  if (reported && errors_to.is_terminal()) fmt::print(stderr, "\r\x1b[K");
  if (!result) return complain(ExitCode::problems, result.error());
  print_out(options.json ? json_line(result->value) : show_result(*result, Terminal::of(STDOUT_FILENO)));
  if (result->is_error) fmt::print(stderr, "proteus: the tool reports a failure\n");
  return result->is_error ? ExitCode::problems : ExitCode::done;
}

bool announces(const client::ServerInfo& info) {
  for (const auto& [name, capability] : info.capabilities) {
    const auto* object = capability.if_object();
    const auto* flag = object != nullptr ? object->if_contains("listChanged") : nullptr;
    if (flag != nullptr && flag->is_bool() && flag->get_bool()) return true;
  }
  return false;
}

ExitCode watch(ClientOptions& options, const Invocation& invocation) {
  if (auto taken = take_target(options, invocation, 0); !taken) return complain(ExitCode::usage, taken.error());
  auto builder = options.target.builder();
  if (!builder) return complain(ExitCode::usage, builder.error());
  // Blocked before any thread starts, so that only `sigwait` receives them.
  sigset_t ends{};
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  const Terminal terminal = Terminal::of(STDOUT_FILENO);
  auto server = builder->build();
  server.add_change_listener([&](const client::Change& change) {
    print_out(options.json ? change_json(change) : show_change(change, terminal));
  });
  if (auto opened = server.open(); !opened) return complain(code_of(opened.error()), opened.error());
  const auto info = server.info();
  if (!announces(*info))
    return complain(ExitCode::problems, errors::unsupported("the server does not announce changes"));
  if (!options.json) {
    const auto count = [](const auto& entries) { return entries ? std::to_string(entries->size()) : "unread"; };
    print_out(terminal.styled(Style::dim,
                              fmt::format("watching {} tools, {} prompts and {} resources; Ctrl-C ends",
                                          count(server.tools()), count(server.prompts()), count(server.resources()))) +
              "\n");
  }
  int signal = 0;
  sigwait(&ends, &signal);
  server.close();
  return ExitCode::done;
}

void add_target_options(CLI::App& command, ClientOptions& options) {
  ClientTarget& target = options.target;
  command.add_flag("--json", options.json, "Print JSON, for programs");
  command.add_option("--header", target.headers, "Send this header: \"Name: value\"; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--bearer-env", target.bearer_variable, "Send the token from this environment variable")
      ->type_name("VARIABLE");
  command.add_option("--timeout", target.timeout, "Wait at most this long for an answer: 500ms, 30s, 5m")
      ->type_name("DURATION");
  command.add_option("--era", target.era, "Protocol to speak; detected by default")
      ->check(CLI::IsMember({"auto", "legacy", "modern"}));
  command.add_option("--transport", target.transport, "HTTP transport to use; detected by default")
      ->check(CLI::IsMember({"auto", "streamable-http", "sse"}));
  command.add_option("--ca-file", target.ca_file, "Trust these certificate authorities (PEM)")
      ->check(CLI::ExistingFile);
  command.add_flag("-v,--verbose", options.verbose, "Log what happens, to standard error");
}

struct Argument {
  const char* name;
  const char* description;
};

void add(CLI::App& client, Invocation& invocation, const std::string& name, const std::string& description,
         const std::vector<Argument>& others, ExitCode (*run_it)(ClientOptions&, const Invocation&)) {
  auto options = std::make_shared<ClientOptions>();
  options->arguments.resize(others.size() + 1);
  CLI::App* const command = client.add_subcommand(name, description);
  command->add_option("URL", options->arguments[0], "URL of the server, http or https; or stdio:<command>");
  for (std::size_t i = 0; i < others.size(); ++i)
    command->add_option(others[i].name, options->arguments[i + 1], others[i].description);
  command->footer(
      "Instead of a URL, you can give a program that speaks MCP on its standard streams:\n  proteus client " + name +
      (others.empty() ? "" : " echo '{\"x\": 1}'") + " -- python3 server.py");
  add_target_options(*command, *options);
  command->callback([options, &invocation, run_it] {
    log::set_level(options->verbose ? log::Level::debug : log::Level::warning);
    for (const auto& argument : options->arguments) {
      if (!argument.empty()) options->words.push_back(argument);
    }
    invocation.exit_code = run_it(*options, invocation);
  });
}

}  // namespace

void add_client_command(CLI::App& app, Invocation& invocation) {
  CLI::App* const client = app.add_subcommand("client", "Talk to any MCP server, of either era");
  client->require_subcommand(1);
  add(*client, invocation, "list", "Show the tools, prompts and resources of a server", {}, list);
  add(*client, invocation, "call", "Call a tool, show its progress and print its result",
      {{"NAME", "The tool's name"}, {"JSON", "Its arguments, an object; - reads them from standard input"}}, call);
  add(*client, invocation, "watch", "Show what is added, removed and changed, until Ctrl-C", {}, watch);
  add_login_commands(*client, invocation);
}

}  // namespace proteus::app
