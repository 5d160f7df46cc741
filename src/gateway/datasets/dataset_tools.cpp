#include "gateway/datasets/dataset_tools.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/datasets/dataset_definitions.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

using boost::json::array;
using boost::json::object;
using server::ToolResult;

namespace definitions = dataset_definitions;

constexpr std::string_view kOwnTool = "workup_";
constexpr std::size_t kMostArguments = std::size_t{64} << 10U;

std::shared_ptr<const json::Schema> compile(const object& schema) { return json::Schema::compile(schema).value(); }

array to_array(const std::vector<std::string>& texts) { return array(texts.begin(), texts.end()); }

// Returns the text on one line, with a full stop and a space at its end; empty if the text is empty.
std::string as_sentence(const std::string& text) {
  std::string line = log::printable(text, text.size());
  if (line.empty()) return line;
  return line + (line.ends_with('.') || line.ends_with('!') || line.ends_with('?') ? " " : ". ");
}

ToolResult structured(object content, std::string_view text) {
  ToolResult result = ToolResult::text(text);
  result.structured = std::move(content);
  return result;
}

mcp::Reply to_reply(const datasets::WorkupDocument& workup) {
  std::string members;
  members.reserve(workup.json.size() + workup.text.size() + workup.text.size() / 8 + 128);
  members += R"("content":[{"type":"text","text":)";
  json::append_quoted(members, workup.text);
  members += R"(}],"structuredContent":)";
  members += workup.json;
  mcp::Reply reply;
  reply.members.add(std::move(members));
  return reply;
}

std::string who_asks(const server::Call& call) {
  const std::string& principal = principal_of(call.caller()).name();
  return principal.empty() ? "agent" : fmt::format("agent {}", principal);
}

// Returns what the agent can do about an error of a source. Only the operator or the owner of the mapping can repair a
// source; the message names an unset variable, because nobody else would notice it.
std::string advice(const std::string& dataset, const Error& error) {
  switch (error.kind()) {
    case ErrorKind::timeout:
      return fmt::format(
          "The source of {} did not answer in time. Ask again with fewer hops or a lower limit, or later.", dataset);
    case ErrorKind::exhausted: return fmt::format("The source of {} is busy. Ask again in a moment.", dataset);
    case ErrorKind::cancelled: return "The request was cancelled.";
    case ErrorKind::unreachable:
    case ErrorKind::interrupted:
    case ErrorKind::forbidden:
      return fmt::format(
          "The source of {} cannot be read now: {}. Tell the operator of the gateway, or use another "
          "dataset.",
          dataset, error.message());
    default:
      return fmt::format(
          "The source of {} no longer fits its mapping: {}. Its owner must propose and ratify it again; until then use "
          "another dataset.",
          dataset, error.message());
  }
}

std::string name_taken(std::string_view tool, const catalog::Found& by) {
  return fmt::format("it cannot be connected: {} is already the name of a tool of {}", tool,
                     by.snapshot->upstream().value());
}

std::string text_of(const object& arguments, std::string_view key) {
  const auto* value = arguments.if_contains(key);
  return value == nullptr || !value->is_string() ? std::string() : std::string(value->get_string());
}

std::int64_t integer_of(const object& arguments, std::string_view key, std::int64_t otherwise) {
  const auto* value = arguments.if_contains(key);
  if (value == nullptr) return otherwise;
  boost::system::error_code inexact;
  const auto number = value->to_number<std::int64_t>(inexact);
  return inexact ? otherwise : number;
}

}  // namespace

DatasetTools::DatasetTools(DatasetRegistry& registry, Gateway& gateway)
    : registry_(registry),
      gateway_(gateway),
      name_(std::string(kName)),
      offered_(nullptr),
      no_arguments_(compile(definitions::no_arguments())),
      name_argument_(compile(definitions::name_argument())),
      workup_arguments_(compile(definitions::workup_arguments())),
      own_workup_arguments_(compile(definitions::own_workup_arguments())) {
  offer({});
  registry.set_on_changed([this](const DatasetState& state) {
    offer(state);
    // Fails as long as the gateway does not know this provider; then there is nobody to notify.
    (void)gateway_.publish_local(offered_.get());
    gateway_.renew_contexts();
  });
  registry.set_name_check([this](const std::string& tool) { return check_name(tool); });
}

void DatasetTools::offer(const DatasetState& state) {
  const auto tools = definitions::write_tools(state);
  catalog::RawListing listing;
  listing.definitions[catalog::Kind::tool] = std::vector<std::string_view>(tools.begin(), tools.end());
  auto made = catalog::build_snapshot(name_, ++version_, std::move(listing), {}, {}, offered_.get());
  if (!made) return log::error("the tools of datasets cannot be offered: {}", made.error().message());
  offered_.set(std::move(*made));
}

Result<> DatasetTools::check_name(const std::string& tool) const {
  const auto found = catalog::View(gateway_.catalog().current()).find(catalog::Kind::tool, tool);
  if (!found || found.snapshot->upstream() == name_) return {};
  return std::unexpected(errors::conflict(name_taken(tool, found)));
}

Task<mcp::Outcome> DatasetTools::handle(server::Call& call, const catalog::Found& found) {
  Answer answer = co_await run(call, std::string(found.definition->own));
  if (const auto* const workup = std::get_if<datasets::WorkupDocument>(&answer)) co_return to_reply(*workup);
  co_return server::to_reply(std::get<ToolResult>(answer), call.request().era());
}

Task<DatasetTools::Answer> DatasetTools::run(server::Call& call, std::string tool) {
  const json::Schema& schema = tool == "list_datasets"     ? *no_arguments_
                               : tool == "connect_dataset" ? *name_argument_
                               : tool == "workup"          ? *workup_arguments_
                                                           : *own_workup_arguments_;
  const std::string_view given = call.request().param("arguments");
  if (given.size() > kMostArguments)
    co_return ToolResult::error(fmt::format("Invalid arguments: they have more than {} bytes.", kMostArguments));
  auto parsed = json::parse(given.empty() ? "{}" : given);
  if (!parsed) co_return ToolResult::error("Invalid arguments: " + parsed.error().message());
  if (const auto validation = schema.validate(*parsed); !validation.ok())
    co_return ToolResult::error("Invalid arguments:\n" + validation.text());
  Arguments arguments = std::move(parsed->get_object());
  if (tool == "list_datasets") co_return co_await list();
  if (tool == "connect_dataset") co_return co_await connect(call, std::move(arguments));
  std::string dataset = tool == "workup" ? text_of(arguments, "dataset") : tool.substr(kOwnTool.size());
  co_return co_await work_up(call, std::move(dataset), std::move(arguments));
}

Task<ToolResult> DatasetTools::list() {
  co_await registry_.look();
  const DatasetStatePointer state = registry_.state();
  array all;
  std::string text;
  for (const auto& file : state->content.files) {
    if (file.status != datasets::DatasetStatus::ratified) continue;
    const datasets::Mapping& mapping = file.plan->mapping();
    const bool connected = state->connected.contains(mapping.name);
    object one{{"name", mapping.name},
               {"entity_types", to_array(mapping.entity_types())},
               {"relationship_types", to_array(mapping.relationship_types())},
               {"connected", connected},
               {"tool", DatasetRegistry::tool_of(mapping.name)},
               {"access", "read-only"}};
    if (!mapping.description.empty()) one.emplace("description", mapping.description);
    all.push_back(std::move(one));
    text += fmt::format("- {} ({}, read-only): {}Entity types: {}. {}\n", mapping.name,
                        connected ? "connected" : "not connected", as_sentence(mapping.description),
                        fmt::join(mapping.entity_types(), ", "),
                        connected ? fmt::format("Use {}.", DatasetRegistry::tool_of(mapping.name))
                                  : fmt::format("Connect it with connect_dataset {{\"name\": \"{}\"}}.", mapping.name));
  }
  if (text.empty()) text = "There is no dataset that a person has approved.\n";
  co_return structured({{"datasets", std::move(all)}}, text);
}

Task<ToolResult> DatasetTools::connect(server::Call& call, Arguments arguments) {
  const std::string name = text_of(arguments, "name");
  const auto connected = co_await registry_.connect(name, who_asks(call));
  if (!connected)
    co_return ToolResult::error(fmt::format("Not connected: {}.", why_not_connected(call, name, connected.error())));
  const DatasetStatePointer state = registry_.state();
  const auto found = state->connected.find(name);
  const bool fresh = *connected == DatasetRegistry::Connecting::fresh;
  const auto types =
      found != state->connected.end() ? found->second->mapping().entity_types() : std::vector<std::string>{};
  const std::string tool = DatasetRegistry::tool_of(name);
  co_return structured(
      {{"dataset", name},
       {"tool", tool},
       {"status", fresh ? "connected" : "already_connected"},
       {"entity_types", to_array(types)},
       {"access", "read-only"}},
      fmt::format("{} {}. Look things up with {} (or workup with dataset \"{}\"). Entity types: {}. "
                  "Access is read-only.",
                  name, fresh ? "is connected" : "was connected already", tool, name, fmt::join(types, ", ")));
}

// Returns what an agent may know about a failed connect. It may know what is wrong with the dataset itself. Other
// obstacles concern only the operator, for example a tool that this caller does not see.
std::string DatasetTools::why_not_connected(const server::Call& call, const std::string& dataset, const Error& error) {
  if (!registry_.state()->types_of(dataset)) return error.message();
  lines_.warning("the dataset {} is not connected: {}", dataset, error.message());
  const std::string tool = DatasetRegistry::tool_of(dataset);
  const auto view = gateway_.service().here().view(call);
  if (const auto found = view->find(catalog::Kind::tool, tool)) return name_taken(tool, found);
  return fmt::format("the gateway cannot offer {}; its operator can find the reason in the log", tool);
}

Task<DatasetTools::Answer> DatasetTools::work_up(server::Call& call, std::string dataset, Arguments arguments) {
  if (!datasets::check_dataset_name(dataset)) {
    co_return ToolResult::error(
        "dataset must be the plain name of a connected dataset. list_datasets shows the names.");
  }
  co_await registry_.look();
  const DatasetStatePointer state = registry_.state();
  const auto found = state->connected.find(dataset);
  if (found == state->connected.end()) {
    const auto available = state->available();
    const bool known = std::ranges::find(available, dataset) != available.end();
    const auto withdrawn = state->withdrawn.find(dataset);
    if (known) {
      co_return ToolResult::error(fmt::format(
          "The dataset {0} is not connected. Call connect_dataset with {{\"name\": \"{0}\"}} first.", dataset));
    }
    if (withdrawn != state->withdrawn.end()) {
      co_return ToolResult::error(fmt::format("The dataset {} was withdrawn: {}.", dataset, withdrawn->second.reason));
    }
    co_return ToolResult::error(
        fmt::format("There is no dataset {}. Available: {}. list_datasets says what is in them.", dataset,
                    available.empty() ? "none" : fmt::format("{}", fmt::join(available, ", "))));
  }
  datasets::WorkupRequest request{.entity = text_of(arguments, "entity"),
                                  .type = text_of(arguments, "type"),
                                  .hops = integer_of(arguments, "hops", 1),
                                  .limit = integer_of(arguments, "limit", 50)};
  const auto types = found->second->mapping().entity_types();
  if (!request.type.empty() && std::ranges::find(types, request.type) == types.end()) {
    co_return ToolResult::error(fmt::format("{} has no entities of the type {}. Its types: {}.", dataset,
                                            log::printable(request.type, 100), fmt::join(types, ", ")));
  }
  auto given_up = std::make_shared<std::atomic<bool>>(false);
  const server::Cancellation::Hook give_up(call.cancellation(),
                                           [&given_up] { given_up->store(true, std::memory_order_relaxed); });
  auto workup = co_await registry_.work_up(dataset, std::move(request), given_up);
  if (!workup) {
    if (workup.error().kind() != ErrorKind::cancelled)
      lines_.warning("a workup of {} failed: {}", dataset, workup.error().message());
    co_return ToolResult::error(advice(dataset, workup.error()));
  }
  co_return std::move(*workup);
}

}  // namespace proteus::gateway
