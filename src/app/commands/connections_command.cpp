// proteus connections: shows, makes and ends connections of a running gateway with OAuth upstreams.
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "app/commands/admin_client.hpp"
#include "app/commands/command.hpp"
#include "app/commands/command_output.hpp"
#include "app/commands/json_text.hpp"
#include "app/commands/terminal.hpp"
#include "base/settings/names.hpp"

namespace proteus::app {
namespace {

struct ConnectionOptions {
  AdminTarget target;
  std::string upstream;
  std::string id;
  bool json = false;
};

Result<boost::json::value> ask_about_connections(const ConnectionOptions& options, std::string_view method,
                                                 const std::string& path, const std::string& body = {}) {
  const auto client = AdminClient::make(options.target);
  if (!client) return std::unexpected(client.error());
  return client->ask(method, "/admin/connections" + path, body);
}

std::string show_connections(const boost::json::value& answer, const Terminal& terminal) {
  Table table({"ID", "UPSTREAM", "PRINCIPAL", "STATE", "SINCE", "SCOPES"});
  const auto* const object = answer.if_object();
  const auto* const all = object != nullptr ? object->if_contains("connections") : nullptr;
  if (all == nullptr || !all->is_array()) return {};
  for (const auto& one : all->get_array()) {
    const auto* const connection = one.if_object();
    if (connection == nullptr) continue;
    const auto cell = [&](std::string_view key) { return one_line(string_at(*connection, key)); };
    std::string scopes;
    const auto* const granted = connection->if_contains("scopes");
    if (granted != nullptr && granted->is_array()) {
      for (const auto& scope : granted->get_array()) {
        if (scope.is_string()) scopes += (scopes.empty() ? "" : " ") + one_line(scope.get_string());
      }
    }
    table.add({cell("id"), cell("upstream"), cell("subject") == "gateway" ? "(the gateway)" : cell("principal"),
               cell("state"), cell("connected_at"), scopes});
  }
  return table.str(terminal);
}

ExitCode list_connections(const ConnectionOptions& options) {
  const auto answer = ask_about_connections(options, "GET", "");
  if (!answer) return refuse(answer.error());
  print_out(options.json ? json_line(*answer) : show_connections(*answer, Terminal::of(STDOUT_FILENO)));
  return ExitCode::done;
}

// Only the URL goes to standard output, so that a script can open it.
ExitCode add_connection(const ConnectionOptions& options) {
  const boost::json::object body{{"upstream", options.upstream}};
  const auto answer = ask_about_connections(options, "POST", "", boost::json::serialize(body));
  if (!answer) return refuse(answer.error());
  if (options.json) {
    print_out(json_line(*answer));
    return ExitCode::done;
  }
  const auto* const object = answer->if_object();
  print_out((object != nullptr ? one_line(string_at(*object, "url")) : std::string()) + "\n");
  fmt::print(stderr, "Open this in a browser within ten minutes; it asks for the admin key and works once.\n");
  return ExitCode::done;
}

bool is_revoked(const boost::json::value& ended) {
  const auto* const object = ended.if_object();
  const auto* const revoked = object != nullptr ? object->if_contains("revoked") : nullptr;
  return revoked != nullptr && revoked->is_bool() && revoked->get_bool();
}

ExitCode remove_connection(const ConnectionOptions& options) {
  if (auto fit = check_name(options.id); !fit) return refuse(std::move(fit.error()).within("ID"));
  const auto answer = ask_about_connections(options, "DELETE", "/" + options.id);
  if (!answer) return refuse(answer.error());
  print_out(options.json ? json_line(*answer) : fmt::format("disconnected {}\n", options.id));
  if (is_revoked(*answer)) return ExitCode::done;
  const std::string why = one_line(string_at(*answer, "last_error"));
  fmt::print(stderr, "proteus: its token was not revoked at the authorization server, and may still work{}{}\n",
             why.empty() ? "" : ": ", why);
  return ExitCode::problems;
}

}  // namespace

void add_connections_command(CLI::App& app, Invocation& invocation) {
  CLI::App* const connections =
      app.add_subcommand("connections", "Show, make and end connections of a running gateway with OAuth upstreams");
  connections->require_subcommand(0, 1);
  auto options = std::make_shared<ConnectionOptions>();
  const auto prepare = [&](CLI::App* command, ExitCode (*run)(const ConnectionOptions&)) {
    options->target.add_options(*command);
    command->add_flag("--json", options->json, "Print JSON, for programs");
    command->callback([options, run, command, &invocation] {
      if (command->get_subcommands().empty()) invocation.exit_code = run(*options);
    });
    return command;
  };
  prepare(connections, list_connections);
  prepare(connections->add_subcommand("list", "Show who has connected which upstream"), list_connections);
  prepare(connections->add_subcommand("add", "Connect an upstream for the gateway itself: prints the URL to open"),
          add_connection)
      ->add_option("UPSTREAM", options->upstream, "Name of the upstream")
      ->required();
  prepare(connections->add_subcommand("remove", "End a connection, and revoke its token"), remove_connection)
      ->add_option("ID", options->id, "Id of the connection, as `proteus connections list` shows it")
      ->required();
}

}  // namespace proteus::app
