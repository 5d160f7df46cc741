// proteus token: makes, shows, rotates and revokes tokens of a running gateway.
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
#include "app/commands/token_output.hpp"
#include "base/settings/names.hpp"

namespace proteus::app {
namespace {

struct TokenOptions {
  AdminTarget target;
  std::string name;
  std::vector<std::string> upstreams;
  std::vector<std::string> contexts;
  std::vector<std::string> tools;
  std::vector<std::string> deny;
  bool read_only = false;
  unsigned requests_per_minute = 0;
  bool searches = false;
  std::string expires;
  std::string overlap;
  bool json = false;
};

// Sends a request about the named token, or about all tokens.
Result<boost::json::value> ask_about(const TokenOptions& options, std::string_view method, std::string_view action,
                                     const boost::json::object* body = nullptr) {
  if (!options.name.empty()) {
    if (auto fit = check_name(options.name); !fit) return std::unexpected(std::move(fit.error()).within("NAME"));
  }
  const auto client = AdminClient::make(options.target);
  if (!client) return std::unexpected(client.error());
  return client->ask(method, fmt::format("/admin/tokens{}", action),
                     body != nullptr ? boost::json::serialize(*body) : std::string());
}

// Only the secret goes to standard output, so that a script can store it.
ExitCode show_issued(const TokenOptions& options, const Result<boost::json::value>& answer) {
  if (!answer) return refuse(answer.error());
  if (options.json) {
    print_out(json_line(*answer));
    return ExitCode::done;
  }
  print_out(secret_of(*answer) + "\n");
  fmt::print(stderr, "{}\n", about_issued(*answer));
  return ExitCode::done;
}

ExitCode create_token(const TokenOptions& options) {
  boost::json::object body{{"name", options.name}};
  const auto add = [&body](const char* key, const std::vector<std::string>& values) {
    if (!values.empty()) body[key] = boost::json::array(values.begin(), values.end());
  };
  add("upstreams", options.upstreams);
  add("contexts", options.contexts);
  add("tools", options.tools);
  add("deny", options.deny);
  if (options.read_only) body["read_only"] = true;
  if (options.requests_per_minute > 0) body["requests_per_minute"] = options.requests_per_minute;
  if (options.searches) body["disclosure"] = "search";
  if (!options.expires.empty()) body["expires"] = options.expires;
  return show_issued(options, ask_about(options, "POST", "", &body));
}

ExitCode list_tokens(const TokenOptions& options) {
  const auto answer = ask_about(options, "GET", "");
  if (!answer) return refuse(answer.error());
  print_out(options.json ? json_line(*answer) : show_tokens(*answer, Terminal::of(STDOUT_FILENO)));
  return ExitCode::done;
}

ExitCode rotate_token(const TokenOptions& options) {
  boost::json::object body;
  if (!options.overlap.empty()) body["overlap"] = options.overlap;
  if (!options.expires.empty()) body["expires"] = options.expires;
  return show_issued(options, ask_about(options, "POST", fmt::format("/{}/rotate", options.name), &body));
}

ExitCode revoke_token(const TokenOptions& options) {
  const auto answer = ask_about(options, "DELETE", "/" + options.name);
  if (!answer) return refuse(answer.error());
  print_out(options.json ? json_line(*answer) : fmt::format("revoked {}\n", options.name));
  if (is_durable(*answer)) return ExitCode::done;
  fmt::print(stderr,
             "proteus: the gateway could not record that yet; a restart before it does brings the token back\n");
  return ExitCode::problems;
}

}  // namespace

void add_token_command(CLI::App& app, Invocation& invocation) {
  CLI::App* const token = app.add_subcommand("token", "Make, show, rotate and revoke tokens of a running gateway");
  token->require_subcommand(1);
  auto options = std::make_shared<TokenOptions>();
  const auto add = [&](const char* what, const char* help, ExitCode (*run)(const TokenOptions&)) {
    CLI::App* const command = token->add_subcommand(what, help);
    options->target.add_options(*command);
    command->add_flag("--json", options->json, "Print JSON, for programs");
    command->callback([options, run, &invocation] { invocation.exit_code = run(*options); });
    return command;
  };
  const auto add_name = [&](CLI::App* command) {
    command->add_option("NAME", options->name, "Name of the token")->required();
  };
  const auto add_expires = [&](CLI::App* command) {
    command
        ->add_option("--expires", options->expires,
                     "When it ends: 30d, or 2027-01-01T00:00:00Z; by default unchanged, for a new token never")
        ->type_name("WHEN");
  };

  CLI::App* const creating = add("create", "Make a token, and print its secret, which is shown once", create_token);
  add_name(creating);
  const auto add_repeated = [&](const char* option, std::vector<std::string>& onto, const char* help,
                                const char* type) {
    creating->add_option(option, onto, help)->type_name(type)->allow_extra_args(false);
  };
  add_repeated("--upstream", options->upstreams, "Upstream it may use; may be repeated; by default all", "NAME");
  add_repeated("--tool", options->tools, "Tools it may use; may be repeated; by default all", "PATTERN");
  add_repeated("--deny", options->deny, "Patterns of what it may not use; may be repeated", "PATTERN");
  add_repeated("--context", options->contexts,
               "Context it may use; may be repeated; by default all, and \"\" for plain /mcp", "NAME");
  creating->add_flag("--read-only", options->read_only, "Only tools that declare readOnlyHint");
  creating->add_flag("--search", options->searches, "List only tools to search and call the others with");
  creating
      ->add_option("--requests-per-minute", options->requests_per_minute,
                   "Requests it may send in a minute; by default only the gateway's own limit")
      ->type_name("N");
  add_expires(creating);

  add("list", "Show all tokens, without their secrets", list_tokens);

  CLI::App* const rotating = add("rotate", "Give a token a new secret, and print it", rotate_token);
  add_name(rotating);
  rotating->add_option("--overlap", options->overlap, "How long the old secret still works; by default 24h")
      ->type_name("DURATION");
  add_expires(rotating);

  add_name(add("revoke", "Take a token away, and end what its holders have open", revoke_token));
}

}  // namespace proteus::app
