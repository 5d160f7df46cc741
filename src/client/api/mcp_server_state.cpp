#include "client/api/mcp_server_state.hpp"

#include <utility>

#include "client/connection/calls.hpp"

namespace proteus::client {
namespace {

Change::Kind kind_of(catalog::Kind kind) {
  switch (kind) {
    case catalog::Kind::tool: return Change::Kind::tools;
    case catalog::Kind::prompt: return Change::Kind::prompts;
    case catalog::Kind::resource: return Change::Kind::resources;
    case catalog::Kind::resource_template: return Change::Kind::resource_templates;
  }
  return Change::Kind::tools;
}

Error not_open() { return errors::conflict("the server is not open"); }

std::size_t size_of(const Change& change) {
  std::size_t bytes = 0;
  const auto add = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      bytes += sizeof text + text.size();
  };
  add(change.added);
  add(change.removed);
  add(change.changed);
  for (const auto& broken : change.breaking) {
    bytes += sizeof broken + broken.name.size();
    add(broken.reasons);
  }
  return bytes;
}

}  // namespace

McpServer::State::~State() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  close();
}

Result<> McpServer::State::open() {
  {
    std::unique_lock lock(mutex_);
    // Whoever opens the server may wait for this callback.
    if (opening_ && CallbackScope::is_inside()) return std::unexpected(errors::conflict("the server is being opened"));
    opened_.wait(lock, [this] { return !opening_; });
    if (ended_) return std::unexpected(errors::cancelled("opening the server"));
    if (open_.host) return {};
    opening_ = true;
    closes_ = false;
  }
  std::optional<Open> made;
  Result<> opened;
  std::exception_ptr thrown;
  try {
    opened = connect(made);
  } catch (...) {
    thrown = std::current_exception();
  }
  {
    const std::scoped_lock lock(mutex_);
    opening_ = false;
    opened_.notify_all();
    if (opened && (closes_ || ended_)) opened = std::unexpected(errors::cancelled("opening the server"));
    if (opened && !thrown) {
      if (polls_ != settings_.auto_refresh) made->host->set_auto_refresh(polls_);
      open_ = std::move(*made);
      return {};
    }
  }
  if (made) end(*made);
  if (thrown) std::rethrow_exception(thrown);
  return opened;
}

Result<> McpServer::State::connect(std::optional<Open>& made) {
  auto endpoint = settings_.endpoint();
  if (!endpoint) return std::unexpected(std::move(endpoint.error()));
  auto http = settings_.http_options();
  if (!http) return std::unexpected(std::move(http.error()));
  auto options = settings_.options();
  if (!options) return std::unexpected(std::move(options.error()));
  const auto callbacks = std::make_shared<CallbackThread>(settings_.name());
  auto io = std::make_shared<boost::asio::io_context>(1);
  settings_.add_handlers(*options, callbacks, io);
  HostSettings how = settings_.host();
  if (const auto* url = std::get_if<net::Url>(&*endpoint)) {
    auto oauth = settings_.oauth(*url, callbacks, io);
    if (!oauth) return std::unexpected(std::move(oauth.error()));
    how.oauth = std::move(*oauth);
  }
  const auto on_change = [this, callbacks](const catalog::Change& change) { announce(change, *callbacks); };
  made = Open{std::make_shared<Host>(io, std::move(*endpoint), std::move(*options), std::move(*http), std::move(how),
                                     on_change),
              callbacks};
  auto opened = made->host->open();
  return opened || settings_.fail_fast_on_startup ? opened : Result<>();
}

void McpServer::State::end(const Open& open) {
  open.host->close();
  open.callbacks->stop();
}

void McpServer::State::close() {
  std::unique_lock lock(mutex_);
  if (CallbackScope::is_inside()) {
    closes_ = true;
    // Ending waits for the callback, so another thread does it, and then joins the thread before it.
    if (open_.host)
      ending_ = std::jthread([open = std::exchange(open_, {}), before = std::move(ending_)] { end(open); });
    return;
  }
  opened_.wait(lock, [this] { return !opening_; });
  const Open open = std::exchange(open_, {});
  const std::jthread ending = std::move(ending_);  // joined when this function ends
  lock.unlock();
  if (open.host) end(open);
}

std::shared_ptr<Host> McpServer::State::host() const {
  const std::lock_guard lock(mutex_);
  return open_.host;
}

void McpServer::State::add_listener(ChangeListener listener) {
  const std::lock_guard lock(mutex_);
  listeners_.push_back(std::move(listener));
}

Result<std::shared_ptr<const Inventory>> McpServer::State::inventory(const std::shared_ptr<Host>& open) {
  if (!open) return std::unexpected(not_open());
  open->freshen();
  if (auto known = open->inventory()) return known;
  auto why = open->health().last_error;
  return std::unexpected(why ? std::move(*why).within("not read yet") : errors::unreachable("not read yet"));
}

RefreshResult McpServer::State::refresh() {
  const auto open = host();
  if (!open) return {.at = std::chrono::system_clock::now(), .duration = {}, .error = not_open(), .changes = {}};
  const Reading reading = open->read_now();
  return {.at = reading.at, .duration = reading.duration, .error = reading.error, .changes = shown(reading.change)};
}

void McpServer::State::set_polling(bool on) {
  const std::lock_guard lock(mutex_);
  polls_ = on;
  if (open_.host) open_.host->set_auto_refresh(on);
}

bool McpServer::State::polls() const {
  const std::lock_guard lock(mutex_);
  return open_.host && polls_;
}

ServerHealth McpServer::State::health() const {
  const auto open = host();
  return open ? open->health() : ServerHealth{.state = ServerState::closed};
}

Circuit McpServer::State::circuit() const {
  const auto open = host();
  return open ? open->circuit() : Circuit::closed;
}

Counters McpServer::State::counters() const {
  const auto open = host();
  return open ? open->counters() : Counters();
}

Result<Answer> McpServer::State::request(const CallOptions& options,
                                         const std::function<Task<Result<Answer>>(Connection&, RequestOptions)>& make) {
  const auto open = host();
  if (!open) return std::unexpected(not_open());
  CallingThread caller;
  RequestOptions request;
  request.timeout = options.timeout;
  request.meta = members_of(options.meta);
  if (options.on_progress) {
    request.on_progress = [&caller, &options](const mcp::Progress& progress) {
      caller.post([&options, progress] { options.on_progress({progress.progress, progress.total, progress.message}); },
                  progress.message.size());
    };
  }
  return open->request([&](Connection& connection) { return make(connection, request); }, caller);
}

Result<> McpServer::State::ping() {
  const auto open = host();
  if (!open) return std::unexpected(not_open());
  CallingThread caller;
  return open->call<void>([](Connection& connection) { return client::ping(connection); }, caller);
}

std::vector<Change> McpServer::State::shown(const catalog::Change& change) const {
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

void McpServer::State::announce(const catalog::Change& found, CallbackThread& callbacks) const {
  std::vector<ChangeListener> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners = listeners_;
  }
  if (listeners.empty()) return;
  for (auto& change : shown(found)) {
    const std::size_t bytes = size_of(change);
    callbacks.post(
        [listeners, change = std::move(change)] {
          for (const auto& listener : listeners)
            listener(change);
        },
        bytes);
  }
}

}  // namespace proteus::client
