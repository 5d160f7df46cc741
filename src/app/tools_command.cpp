// proteus tools: what a running gateway serves, and what waits to be ratified.
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "app/admin_client.hpp"
#include "app/command.hpp"
#include "app/terminal.hpp"
#include "app/tools_output.hpp"

namespace proteus::app {
namespace {

struct ToolsOptions {
  AdminTarget target;
  std::string context;
  bool explain = false;
  bool json = false;
};

ExitCode complain(const Error& error) {
  fmt::print(stderr, "proteus: {}\n", one_line(error.message()));
  return error.kind() == ErrorKind::invalid ? ExitCode::usage : ExitCode::problems;
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

ExitCode list(const ToolsOptions& options) {
  const auto client = AdminClient::make(options.target);
  if (!client) return complain(client.error());
  const std::string path =
      options.context.empty() ? "/admin/catalog/tools" : fmt::format("/admin/contexts/{}/tools", options.context);
  const auto answer = client->ask("GET", path + (options.explain ? "?explain=true" : ""));
  if (!answer) return complain(answer.error());
  if (options.json) {
    print(boost::json::serialize(*answer) + "\n");
  } else {
    print(show_tools(*answer, Terminal::of(STDOUT_FILENO)));
  }
  for (const auto& warning : warnings_of(*answer))
    fmt::print(stderr, "warning: {}\n", one_line(warning));
  return ExitCode::done;
}

}  // namespace

void add_tools_command(CLI::App& app, Invocation& invocation) {
  CLI::App* const tools = app.add_subcommand("tools", "What a running gateway serves");
  tools->require_subcommand(1);
  auto options = std::make_shared<ToolsOptions>();
  CLI::App* const listing = tools->add_subcommand("list", "All tools, as they look in a context or without one");
  options->target.add_options(*listing);
  listing->add_option("--context", options->context, "The context they are looked at in")->type_name("NAME");
  listing->add_flag("--explain", options->explain, "Show which part of each description came from where");
  listing->add_flag("--json", options->json, "For programs");
  listing->callback([options, &invocation] { invocation.exit_code = list(*options); });
}

}  // namespace proteus::app
