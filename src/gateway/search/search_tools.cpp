#include "gateway/search/search_tools.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/search_definitions.hpp"
#include "gateway/search/search_answers.hpp"
#include "json/text.hpp"
#include "providers/http_tool/http_tool_call.hpp"

namespace proteus::gateway {
namespace {

using providers::tool_error;

constexpr std::size_t kNearest = 3;
// Limit of the definitions in one answer, so that `describe_tool` does not undo what searching saves.
constexpr std::size_t kMostDescribed = std::size_t{256} << 10U;
// Valid arguments are short.
constexpr std::size_t kMostArguments = std::size_t{64} << 10U;

std::shared_ptr<const json::Schema> arguments_of(std::string_view tool) {
  const auto* const definition = search_definitions()->list(catalog::Kind::tool).find(tool);
  return json::Schema::compile(json::parse(json::find_member(definition->text, "inputSchema")).value()).value();
}

std::vector<std::string> queries_of(const boost::json::object& arguments) {
  std::vector<std::string> all;
  if (const auto* query = arguments.if_contains("query")) all.emplace_back(query->get_string());
  if (const auto* queries = arguments.if_contains("queries")) {
    for (const auto& query : queries->get_array())
      all.emplace_back(query.get_string());
  }
  return all;
}

std::size_t limit_of(const boost::json::object& arguments) {
  const auto* const limit = arguments.if_contains("limit");
  boost::system::error_code inexact;
  const auto given = limit != nullptr ? limit->to_number<std::size_t>(inexact) : SearchArguments::kUsualLimit;
  return inexact ? SearchArguments::kUsualLimit : given;
}

// Adds the names by which operators and callers know an upstream.
search::Indexes::More with_names(const Gateway& gateway, search::Indexes::More more) {
  return [&gateway, more = std::move(more)](const catalog::Snapshot& snapshot) {
    std::string text = more ? more(snapshot) : std::string();
    const auto table = gateway.upstreams();
    if (const auto* const served = table->find(snapshot.upstream().value()))
      text += fmt::format(" {} {}", (*served)->settings().display_name, (*served)->rules().prefix);
    return text;
  };
}

}  // namespace

SearchTools::SearchTools(Gateway& gateway, search::Indexes::More more)
    : gateway_(gateway),
      search_(gateway.clock(), gateway.background_threads(), with_names(gateway, std::move(more))),
      search_arguments_(arguments_of(kSearchTools)),
      describe_arguments_(arguments_of(kDescribeTool)) {}

const catalog::UpstreamName& SearchTools::name() const { return search_provider(); }

Task<mcp::Outcome> SearchTools::handle(server::Call& call, const catalog::Found& found) {
  const std::string_view tool = found ? found.definition->own : std::string_view(kCallTool);
  const bool searches = tool == kSearchTools;
  if (!searches && tool != kDescribeTool) co_return co_await name_nearest(call);
  const std::string_view given = call.request().param("arguments");
  if (given.size() > kMostArguments)
    co_return tool_error(fmt::format("Invalid arguments: they have more than {} bytes.", kMostArguments));
  auto parsed = json::parse(given.empty() ? "{}" : given);
  if (!parsed) co_return tool_error("Invalid arguments: " + parsed.error().message());
  const json::Schema& schema = searches ? *search_arguments_ : *describe_arguments_;
  if (const auto validation = schema.validate(*parsed); !validation.ok())
    co_return tool_error("Invalid arguments:\n" + validation.text());
  Arguments arguments = std::move(parsed->get_object());
  co_return searches ? co_await search(call, std::move(arguments)) : co_await describe(call, std::move(arguments));
}

Task<mcp::Reply> SearchTools::search(server::Call& call, Arguments arguments) {
  const auto queries = queries_of(arguments);
  const std::vector<std::string_view> texts(queries.begin(), queries.end());
  const auto tools = std::make_shared<UsableTools>(co_await gateway_.service().usable_tools(call));
  std::string note;
  if (const auto* const upstream = arguments.if_contains("upstream")) {
    const std::string_view name = upstream->get_string();
    if (!tools->has_upstream(name)) {
      co_return tool_error(
          fmt::format("There is no upstream {} that has tools for you. Search without it.", log::printable(name, 200)));
    }
    tools->keep_only(name);
  }
  const auto hits = co_await search_.find(tools, texts, limit_of(arguments));
  if (!hits) co_return tool_error(hits.error().message());
  if (hits->empty()) note = "Nothing fits. Use other words, or fewer.";
  co_return hits_reply(*hits, tools->unanswered(), note);
}

Task<mcp::Reply> SearchTools::describe(server::Call& call, Arguments arguments) {
  const auto tools = std::make_shared<const UsableTools>(co_await gateway_.service().usable_tools(call));
  Descriptions all;
  std::vector<std::string_view> unknown;
  std::size_t bytes = 0;
  for (const auto& given : arguments.at("names").get_array()) {
    const std::string_view name = given.get_string();
    const catalog::Found found = tools->find(name);
    if (!found) {
      unknown.push_back(name);
      continue;
    }
    bytes += found.definition->text.size();
    if (bytes > kMostDescribed && !all.tools.empty()) {
      all.left_out.emplace_back(name);
    } else {
      all.tools.push_back(described(*found.definition));
    }
  }
  auto nearest = co_await search_.nearest(tools, unknown, kNearest);
  for (std::size_t i = 0; i < unknown.size(); ++i)
    all.unknown.push_back({log::printable(unknown[i], 200), std::move(nearest[i])});
  if (!all.unknown.empty()) all.unanswered = tools->unanswered();
  co_return descriptions_reply(all);
}

// The call is one of a tool that does not exist, or of `call_tool` with the name of `call_tool` or `call_read_tool`.
Task<mcp::Reply> SearchTools::name_nearest(server::Call& call) {
  const std::string_view name = call.request().name;
  if (name == kCallTool || name == kCallReadTool)
    co_return tool_error(fmt::format("{} does not call itself. Name the tool that is meant.", name));
  const auto tools = std::make_shared<const UsableTools>(co_await gateway_.service().usable_tools(call));
  auto nearest = co_await search_.nearest(tools, {&name, 1}, kNearest);
  const UnknownName unknown{std::string(name), std::move(nearest.front())};
  co_return tool_error(no_such_tool(unknown, tools->unanswered()));
}

}  // namespace proteus::gateway
