#include <mutex>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <proteus/client.hpp>

#include "base/log.hpp"
#include "client/api/callback_thread.hpp"
#include "client/api/host.hpp"
#include "client/api/settings.hpp"
#include "client/connection/calls.hpp"
#include "json/text.hpp"

namespace proteus::client {
namespace {

std::string text_member(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

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

Change::Kind kind_of(catalog::Kind kind) {
  switch (kind) {
    case catalog::Kind::tool: return Change::Kind::tools;
    case catalog::Kind::prompt: return Change::Kind::prompts;
    case catalog::Kind::resource: return Change::Kind::resources;
    case catalog::Kind::resource_template: return Change::Kind::resource_templates;
  }
  return Change::Kind::tools;
}

Result<boost::json::object> parsed_object(const Result<Answer>& answer) {
  if (!answer) return std::unexpected(answer.error());
  auto value = answer->value();
  if (!value) return std::unexpected(std::move(value.error()));
  return std::move(value->get_object());
}

Error not_open() { return errors::conflict("the server is not open"); }

}  // namespace

// Who listens outlives the connections of one server.
class McpServer::State {
 public:
  explicit State(Settings settings) : settings_(std::move(settings)) {}
  ~State() { close(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Result<> open() {
    const std::lock_guard lock(opening_);
    if (host()) return {};
    auto endpoint = settings_.endpoint();
    if (!endpoint) return std::unexpected(std::move(endpoint.error()));
    auto http = settings_.http_options();
    if (!http) return std::unexpected(std::move(http.error()));
    auto options = settings_.options();
    if (!options) return std::unexpected(std::move(options.error()));
    callbacks_ = std::make_shared<CallbackThread>();
    auto io = std::make_shared<boost::asio::io_context>(1);
    settings_.add_handlers(*options, callbacks_, io);
    HostSettings how = settings_.host();
    if (const auto* url = std::get_if<net::Url>(&*endpoint)) {
      auto oauth = settings_.oauth(*url, callbacks_, io);
      if (!oauth) return std::unexpected(std::move(oauth.error()));
      how.oauth = std::move(*oauth);
    }
    const auto on_change = [this](const catalog::Change& change) { announce(change); };
    auto host = std::make_shared<Host>(io, std::move(*endpoint), std::move(*options), std::move(*http), std::move(how),
                                       on_change);
    if (auto opened = host->open(); !opened && settings_.fail_fast_on_startup) {
      host->close();
      callbacks_->stop();
      return opened;
    }
    const std::lock_guard state(mutex_);
    if (polls_ != settings_.auto_refresh) host->set_auto_refresh(polls_);
    host_ = std::move(host);
    return {};
  }

  void close() {
    const std::lock_guard lock(opening_);
    std::shared_ptr<Host> host;
    {
      const std::lock_guard state(mutex_);
      host = std::move(host_);
      host_ = nullptr;
    }
    if (!host) return;
    host->close();
    callbacks_->stop();
  }

  std::shared_ptr<Host> host() const {
    const std::lock_guard lock(mutex_);
    return host_;
  }

  void add_listener(ChangeListener listener) {
    const std::lock_guard lock(mutex_);
    listeners_.push_back(std::move(listener));
  }

  // Never an empty one for one that could not be read.
  Result<std::shared_ptr<const Inventory>> inventory() const {
    const auto open = host();
    if (!open) return std::unexpected(not_open());
    open->freshen();
    if (auto known = open->inventory()) return known;
    auto why = open->health().last_error;
    return std::unexpected(why ? std::move(*why).within("not read yet") : errors::unreachable("not read yet"));
  }

  template <class T>
  Result<std::vector<T>> list(catalog::Kind kind) const {
    const auto known = inventory();
    if (!known) return std::unexpected(known.error());
    const auto& listed = (*known)->lists[kind];
    if (!listed) return std::unexpected(Error(*(*known)->failure).within("not read yet"));
    std::vector<T> entries;
    entries.reserve(listed->entries.size());
    for (const Entry& entry : listed->entries)
      read(entry, entries.emplace_back());
    return entries;
  }

  RefreshResult refresh() {
    const auto open = host();
    if (!open) return {.at = std::chrono::system_clock::now(), .duration = {}, .error = not_open(), .changes = {}};
    const Reading reading = open->read_now();
    return {.at = reading.at, .duration = reading.duration, .error = reading.error, .changes = shown(reading.change)};
  }

  void set_polling(bool on) {
    const std::lock_guard lock(mutex_);
    polls_ = on;
    if (host_) host_->set_auto_refresh(on);
  }
  bool polls() const {
    const std::lock_guard lock(mutex_);
    return host_ && polls_;
  }

  // How it is; one that is not open is `closed`.
  ServerHealth health() const {
    const auto open = host();
    return open ? open->health() : ServerHealth{.state = ServerState::closed};
  }
  Circuit circuit() const {
    const auto open = host();
    return open ? open->circuit() : Circuit::closed;
  }
  Counters counters() const {
    const auto open = host();
    return open ? open->counters() : Counters();
  }

  boost::json::object descriptor() const { return settings_.descriptor(); }

  Result<boost::json::object> request(const CallOptions& options,
                                      const std::function<Task<Result<Answer>>(Connection&, RequestOptions)>& make) {
    const auto open = host();
    if (!open) return std::unexpected(not_open());
    CallingThread caller;
    RequestOptions request;
    request.timeout = options.timeout;
    request.meta = members_of(options.meta);
    if (options.on_progress) {
      request.on_progress = [&caller, &options](const mcp::Progress& progress) {
        caller.post(
            [&options, progress] { options.on_progress({progress.progress, progress.total, progress.message}); });
      };
    }
    return parsed_object(open->request([&](Connection& connection) { return make(connection, request); }, caller));
  }

 private:
  std::vector<Change> shown(const catalog::Change& change) const {
    std::vector<Change> changes;
    for (const catalog::Kind kind : catalog::kKinds) {
      const catalog::KindChange& found = change.kinds[kind];
      if (found.empty()) continue;
      Change& one = changes.emplace_back();
      one.kind = kind_of(kind);
      one.added = found.added;
      one.removed = found.removed;
      one.server = settings_.name();
      for (const auto& definition : found.changed) {
        one.changed.push_back(definition.name);
        if (definition.compatibility != catalog::Compatibility::breaking) continue;
        one.breaking.push_back({definition.name, definition.reasons});
      }
    }
    return changes;
  }

  void announce(const catalog::Change& found) {
    std::vector<ChangeListener> listeners;
    {
      const std::lock_guard lock(mutex_);
      listeners = listeners_;
    }
    if (listeners.empty()) return;
    for (auto& change : shown(found)) {
      callbacks_->post([listeners, change = std::move(change)] {
        for (const auto& listener : listeners)
          listener(change);
      });
    }
  }

  const Settings settings_;
  std::mutex opening_;  // held while opening or closing
  std::shared_ptr<CallbackThread> callbacks_;

  mutable std::mutex mutex_;
  std::shared_ptr<Host> host_;
  std::vector<ChangeListener> listeners_;
  bool polls_ = settings_.auto_refresh;  // wanted, while it is open
};

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
  const auto known = state_->inventory();
  if (!known) return std::unexpected(known.error());
  const auto host = state_->host();
  if (!host) return std::unexpected(not_open());
  const auto facts = host->facts();
  const auto identity = parsed_object(facts->info);
  return ServerInfo{facts->era() == mcp::Era::legacy ? Era::legacy : Era::modern,
                    std::string(mcp::to_string(facts->version)),
                    text_member(identity, "name"),
                    text_member(identity, "version"),
                    facts->instructions,
                    parsed_object(facts->capabilities)};
}

Result<std::vector<Tool>> McpServer::tools() const { return state_->list<Tool>(catalog::Kind::tool); }
Result<std::vector<Prompt>> McpServer::prompts() const { return state_->list<Prompt>(catalog::Kind::prompt); }
Result<std::vector<Resource>> McpServer::resources() const { return state_->list<Resource>(catalog::Kind::resource); }
Result<std::vector<ResourceTemplate>> McpServer::resource_templates() const {
  return state_->list<ResourceTemplate>(catalog::Kind::resource_template);
}

Result<Tool> McpServer::tool(const std::string& name) const {
  const auto inventory = state_->inventory();
  if (!inventory) return std::unexpected(inventory.error());
  const auto& tools = (*inventory)->lists[catalog::Kind::tool];
  if (!tools) return std::unexpected(Error(*(*inventory)->failure).within("not read yet"));
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
  auto result = state_->request(options, [&](Connection& connection, RequestOptions request) {
    return client::call_tool(connection, name, boost::json::serialize(arguments), std::move(request));
  });
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
  return state_->request(options, [&](Connection& connection, RequestOptions request) {
    return client::get_prompt(connection, name, boost::json::serialize(object), std::move(request));
  });
}

Result<boost::json::object> McpServer::read_resource(const std::string& uri, const CallOptions& options) {
  return state_->request(options, [&](Connection& connection, RequestOptions request) {
    return client::read_resource(connection, uri, std::move(request));
  });
}

Result<std::vector<std::string>> McpServer::complete(const boost::json::object& reference, const std::string& argument,
                                                     const std::string& value, const CallOptions& options) {
  const auto result = state_->request(options, [&](Connection& connection, RequestOptions request) {
    return client::complete(connection, boost::json::serialize(reference), argument, value, {}, std::move(request));
  });
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

Result<> McpServer::ping() {
  const auto host = state_->host();
  if (!host) return std::unexpected(not_open());
  CallingThread caller;
  return host->call<void>([](Connection& connection) { return client::ping(connection); }, caller);
}

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
