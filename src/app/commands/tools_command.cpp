// proteus tools: shows what a running gateway serves, and ratifies or rejects proposals.
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "app/commands/admin_client.hpp"
#include "app/commands/command.hpp"
#include "app/commands/command_output.hpp"
#include "app/commands/json_text.hpp"
#include "app/commands/terminal.hpp"
#include "app/commands/tools_output.hpp"

namespace proteus::app {
namespace {

struct ToolsOptions {
  AdminTarget target;
  std::string context;
  bool explain = false;
  bool json = false;
  std::string upstream;
  std::vector<std::string> ids;
  bool all = false;
  std::string by;
};

ExitCode list(const ToolsOptions& options) {
  const auto client = AdminClient::make(options.target);
  if (!client) return refuse(client.error());
  const std::string path =
      options.context.empty() ? "/admin/catalog/tools" : fmt::format("/admin/contexts/{}/tools", options.context);
  const auto answer = client->ask("GET", path + (options.explain ? "?explain=true" : ""));
  if (!answer) return refuse(answer.error());
  if (options.json) {
    print_out(json_line(*answer));
  } else {
    print_out(show_tools(*answer, Terminal::of(STDOUT_FILENO)));
  }
  for (const auto& warning : warnings_of(*answer))
    fmt::print(stderr, "warning: {}\n", one_line(warning));
  return ExitCode::done;
}

Result<boost::json::value> proposals(const AdminClient& client, const std::string& upstream) {
  return client.ask("GET", upstream.empty() ? "/admin/proposals" : "/admin/proposals?upstream=" + upstream);
}

// Requests the proposals whose texts a long list omits. Drops those that were decided meanwhile.
Result<boost::json::value> whole_proposals(const AdminClient& client, const std::string& upstream) {
  auto answer = proposals(client, upstream);
  if (!answer) return answer;
  for (const auto& id : shortened_proposals(*answer)) {
    auto whole = client.ask("GET", "/admin/proposals/" + id);
    if (!whole && whole.error().kind() != ErrorKind::not_found) return whole;
    replace_proposal(*answer, id, whole ? std::move(*whole) : boost::json::value());
  }
  return answer;
}

ExitCode diff(const ToolsOptions& options) {
  const auto client = AdminClient::make(options.target);
  if (!client) return refuse(client.error());
  const auto answer = whole_proposals(*client, options.upstream);
  if (!answer) return refuse(answer.error());
  print_out(options.json ? json_line(*answer) : show_proposals(*answer, Terminal::of(STDOUT_FILENO)));
  return ExitCode::done;
}

// Returns the named proposals, or all of one upstream.
Result<std::vector<std::string>> chosen(const ToolsOptions& options, const AdminClient& client) {
  if (!options.all) {
    if (options.ids.empty()) return std::unexpected(errors::invalid("an id is needed, or --all"));
    return options.ids;
  }
  if (!options.ids.empty()) return std::unexpected(errors::invalid("either ids or --all"));
  if (options.upstream.empty()) return std::unexpected(errors::invalid("--all needs --upstream"));
  const auto answer = proposals(client, options.upstream);
  if (!answer) return std::unexpected(answer.error());
  return proposal_ids(*answer);
}

ExitCode decide(const ToolsOptions& options, std::string_view how) {
  const auto client = AdminClient::make(options.target);
  if (!client) return refuse(client.error());
  const auto ids = chosen(options, *client);
  if (!ids) return refuse(ids.error());
  boost::json::object body;
  if (!options.by.empty()) body["by"] = options.by;
  const std::string text = boost::json::serialize(body);
  ExitCode code = ExitCode::done;
  for (const auto& id : *ids) {
    const auto answer = client->ask("POST", fmt::format("/admin/proposals/{}/{}", id, how), text);
    if (!answer) {
      code = refuse(answer.error());
    } else {
      print_out(options.json ? json_line(*answer) : show_decision(*answer));
    }
  }
  return code;
}

}  // namespace

void add_tools_command(CLI::App& app, Invocation& invocation) {
  CLI::App* const tools = app.add_subcommand("tools", "Show and ratify what a running gateway serves");
  tools->require_subcommand(1);
  auto options = std::make_shared<ToolsOptions>();
  CLI::App* const listing = tools->add_subcommand("list", "Show all tools, with or without a context");
  options->target.add_options(*listing);
  listing->add_option("--context", options->context, "Show the tools as they look in this context")->type_name("NAME");
  listing->add_flag("--explain", options->explain, "Show where each part of a description came from");
  listing->add_flag("--json", options->json, "Print JSON, for programs");
  listing->callback([options, &invocation] { invocation.exit_code = list(*options); });

  CLI::App* const differing =
      tools->add_subcommand("diff", "Show definitions of pinned upstreams that nobody has ratified");
  options->target.add_options(*differing);
  differing->add_option("--upstream", options->upstream, "Only definitions of this upstream")->type_name("NAME");
  differing->add_flag("--json", options->json, "Print JSON, for programs");
  differing->callback([options, &invocation] { invocation.exit_code = diff(*options); });

  const auto add_decision = [&](const char* how, const char* help) {
    CLI::App* const command = tools->add_subcommand(how, help);
    options->target.add_options(*command);
    command->add_option("ID", options->ids, "Ids of proposals, as `proteus tools diff` shows them");
    command->add_flag("--all", options->all, "All proposals of one upstream");
    command->add_option("--upstream", options->upstream, "The upstream for --all")->type_name("NAME");
    command->add_option("--by", options->by, "Who decides; by default the name of the admin key")->type_name("WHO");
    command->add_flag("--json", options->json, "Print JSON, for programs");
    command->callback([options, how, &invocation] { invocation.exit_code = decide(*options, how); });
  };
  add_decision("ratify", "Ratify proposals: serve exactly these definitions");
  add_decision("reject", "Reject proposals: never propose these definitions again");
}

}  // namespace proteus::app
