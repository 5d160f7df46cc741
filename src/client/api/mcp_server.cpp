#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <proteus/client.hpp>

#include "client/api/mcp_server_state.hpp"
#include "client/connection/calls.hpp"
#include "json/text.hpp"

namespace proteus::client {
namespace {

boost::json::object parsed_object(std::string_view text) {
  auto value = json::parse(text);
  return value && value->is_object() ? std::move(value->get_object()) : boost::json::object();
}

void read(const Entry& entry, Tool& tool) {
  tool.definition = parsed_object(entry.definition);
  tool.name = entry.name;
  tool.title = text_member(tool.definition, "title");
  tool.description = text_member(tool.definition, "description");
}
void read(const Entry& entry, Prompt& prompt) {
  prompt.definition = parsed_object(entry.definition);
  prompt.name = entry.name;
  prompt.title = text_member(prompt.definition, "title");
  prompt.description = text_member(prompt.definition, "description");
}
void read(const Entry& entry, Resource& resource) {
  resource.definition = parsed_object(entry.definition);
  resource.uri = entry.name;
  resource.name = text_member(resource.definition, "name");
  resource.title = text_member(resource.definition, "title");
  resource.description = text_member(resource.definition, "description");
  resource.mime_type = text_member(resource.definition, "mimeType");
}
void read(const Entry& entry, ResourceTemplate& resource) {
  resource.definition = parsed_object(entry.definition);
  resource.uri_template = entry.name;
  resource.name = text_member(resource.definition, "name");
  resource.title = text_member(resource.definition, "title");
  resource.description = text_member(resource.definition, "description");
}

Result<boost::json::object> parsed_object(const Result<Answer>& answer) {
  if (!answer) return std::unexpected(answer.error());
  auto value = answer->value();
  if (!value) return std::unexpected(std::move(value.error()));
  return std::move(value->get_object());
}

template <class T>
Result<std::vector<T>> list_of(const Result<std::shared_ptr<const Inventory>>& known, catalog::Kind kind) {
  if (!known) return std::unexpected(known.error());
  const auto& listed = (*known)->lists[kind];
  if (!listed) return std::unexpected(*(*known)->failures[kind]);
  std::vector<T> entries;
  entries.reserve(listed->entries.size());
  for (const Entry& entry : listed->entries)
    read(entry, entries.emplace_back());
  return entries;
}

}  // namespace

McpServer::McpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
McpServer::McpServer(McpServer&&) noexcept = default;
McpServer& McpServer::operator=(McpServer&&) noexcept = default;
McpServer::~McpServer() = default;

McpServer::Builder McpServer::builder(std::string url) { return Builder(std::move(url)); }

Result<> McpServer::open() { return state_->open(); }
void McpServer::close() { state_->close(); }
bool McpServer::is_open() const { return state_->host() != nullptr; }
void McpServer::add_change_listener(ChangeListener listener) { state_->add_listener(std::move(listener)); }

RefreshResult McpServer::refresh_now() { return state_->refresh(); }
void McpServer::start_auto_refresh() { state_->set_polling(true); }
void McpServer::stop_auto_refresh() { state_->set_polling(false); }
bool McpServer::is_auto_refresh_running() const { return state_->polls(); }
std::optional<std::chrono::system_clock::time_point> McpServer::last_refresh_time() const {
  return state_->health().last_refresh_at;
}
ServerState McpServer::state() const { return state_->health().state; }
std::optional<Error> McpServer::last_error() const { return state_->health().last_error; }
Circuit McpServer::circuit() const { return state_->circuit(); }
Counters McpServer::counters() const { return state_->counters(); }
boost::json::object McpServer::descriptor() const { return state_->descriptor(); }

Result<McpServer::Builder> McpServer::from_descriptor(const boost::json::object& descriptor) {
  auto settings = Settings::from_descriptor(descriptor);
  if (!settings) return std::unexpected(settings.error());
  Builder made{std::string()};
  *made.settings_ = std::move(*settings);
  return made;
}

Result<ServerInfo> McpServer::info() const {
  const auto host = state_->host();
  const auto known = State::inventory(host);
  if (!known) return std::unexpected(known.error());
  const auto facts = host->facts();
  const auto identity = parsed_object(facts->info);
  return ServerInfo{facts->era() == mcp::Era::legacy ? Era::legacy : Era::modern,
                    std::string(mcp::to_string(facts->version)),
                    text_member(identity, "name"),
                    text_member(identity, "version"),
                    facts->instructions,
                    parsed_object(facts->capabilities)};
}

Result<std::vector<Tool>> McpServer::tools() const { return list_of<Tool>(state_->inventory(), catalog::Kind::tool); }
Result<std::vector<Prompt>> McpServer::prompts() const {
  return list_of<Prompt>(state_->inventory(), catalog::Kind::prompt);
}
Result<std::vector<Resource>> McpServer::resources() const {
  return list_of<Resource>(state_->inventory(), catalog::Kind::resource);
}
Result<std::vector<ResourceTemplate>> McpServer::resource_templates() const {
  return list_of<ResourceTemplate>(state_->inventory(), catalog::Kind::resource_template);
}

Result<Tool> McpServer::tool(const std::string& name) const {
  const auto inventory = state_->inventory();
  if (!inventory) return std::unexpected(inventory.error());
  const auto& tools = (*inventory)->lists[catalog::Kind::tool];
  if (!tools) return std::unexpected(*(*inventory)->failures[catalog::Kind::tool]);
  for (const Entry& entry : tools->entries) {
    if (entry.name != name) continue;
    Tool tool;
    read(entry, tool);
    return tool;
  }
  return std::unexpected(errors::not_found(fmt::format("the server has no tool {}", json::quote(name))));
}

Result<ToolResult> McpServer::call_tool(const std::string& name, const boost::json::object& arguments,
                                        const CallOptions& options) {
  auto result = parsed_object(state_->request(options, [&](Connection& connection, RequestOptions request) {
    return client::call_tool(connection, name, boost::json::serialize(arguments), std::move(request));
  }));
  if (!result) return std::unexpected(std::move(result.error()));
  const auto* failed = result->if_contains("isError");
  const bool is_error = failed != nullptr && failed->is_bool() && failed->get_bool();
  return ToolResult{is_error, std::move(*result)};
}

Result<boost::json::object> McpServer::get_prompt(const std::string& name,
                                                  const std::map<std::string, std::string>& arguments,
                                                  const CallOptions& options) {
  boost::json::object object;
  for (const auto& [key, value] : arguments)
    object.emplace(key, value);
  return parsed_object(state_->request(options, [&](Connection& connection, RequestOptions request) {
    return client::get_prompt(connection, name, boost::json::serialize(object), std::move(request));
  }));
}

Result<boost::json::object> McpServer::read_resource(const std::string& uri, const CallOptions& options) {
  return parsed_object(state_->request(options, [&](Connection& connection, RequestOptions request) {
    return client::read_resource(connection, uri, std::move(request));
  }));
}

Result<std::vector<std::string>> McpServer::complete(const boost::json::object& reference, const std::string& argument,
                                                     const std::string& value, const CallOptions& options) {
  const auto result = parsed_object(state_->request(options, [&](Connection& connection, RequestOptions request) {
    return client::complete(connection, boost::json::serialize(reference), argument, value, {}, std::move(request));
  }));
  if (!result) return std::unexpected(result.error());
  const auto* completion = result->if_contains("completion");
  const auto* values =
      completion != nullptr && completion->is_object() ? completion->get_object().if_contains("values") : nullptr;
  if (values == nullptr || !values->is_array())
    return std::unexpected(errors::protocol("the server answered with no values"));
  std::vector<std::string> texts;
  for (const auto& text : values->get_array()) {
    if (text.is_string()) texts.emplace_back(text.get_string());
  }
  return texts;
}

Result<> McpServer::ping() { return state_->ping(); }

boost::json::object Tool::input_schema() const {
  const auto* schema = definition.if_contains("inputSchema");
  return schema != nullptr && schema->is_object() ? schema->get_object() : boost::json::object();
}

std::string ToolResult::text() const {
  std::string out;
  const auto* content = value.if_contains("content");
  if (content == nullptr || !content->is_array()) return out;
  for (const auto& block : content->get_array()) {
    const auto* object = block.if_object();
    if (object == nullptr || text_member(*object, "type") != "text") continue;
    if (!out.empty()) out += '\n';
    out += text_member(*object, "text");
  }
  return out;
}

McpServer McpServer::Builder::build() const { return McpServer(std::make_unique<State>(*settings_)); }

}  // namespace proteus::client
