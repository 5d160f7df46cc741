#include "app/serving.hpp"

#include <algorithm>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "net/proxy.hpp"
#include "store/pepper.hpp"
#include "store/sealer.hpp"
#include "store/sqlite_store.hpp"

namespace proteus::app {

namespace asio = boost::asio;

namespace {

std::vector<providers::UpstreamSettings> settings_of(const Config& config) {
  std::vector<providers::UpstreamSettings> settings;
  for (const auto& entry : config.upstreams)
    settings.push_back(entry.settings);
  return settings;
}

bool serves_anonymous(const Config& config) {
  switch (config.auth.anonymous) {
    case Anonymous::loopback: return config.is_loopback_only();
    case Anonymous::never: return false;
    case Anonymous::always: return true;
  }
  return false;
}

}  // namespace

Serving::Serving(Config config, Environment environment)
    : config_(std::move(config)), environment_(std::move(environment)) {}

Result<std::unique_ptr<Serving>> Serving::start(Config config, Environment environment) {
  std::unique_ptr<Serving> serving(new Serving(std::move(config), std::move(environment)));
  if (auto opened = serving->open(); !opened) return std::unexpected(opened.error());
  return serving;
}

gateway::GatewayOptions Serving::options() const {
  gateway::GatewayOptions options;
  options.service.server_info = fmt::format(R"({{"name":"proteus","version":"{}"}})", PROTEUS_VERSION);
  options.service.page_size = config_.server.page_size;
  options.service.meta = {
      .keys = config_.limits.meta_keys, .depth = config_.limits.meta_depth, .bytes = config_.limits.meta_bytes.value()};
  options.upstreams.lists.pages = config_.limits.list_pages;
  options.upstreams.lists.entries = config_.limits.list_entries;
  options.upstreams.definitions.definitions = config_.limits.list_entries;
  options.upstreams.debounce = config_.limits.debounce;
  options.debounce = config_.limits.debounce;
  options.endpoint.hosts = {config_.server.listen.is_loopback(), config_.server.allowed_origins,
                            config_.server.allowed_hosts};
  options.endpoint.sessions.idle = std::chrono::ceil<std::chrono::seconds>(config_.sessions.idle_timeout);
  options.endpoint.sessions.replay.events = config_.sessions.events_per_stream;
  options.http.user_agent = "proteus/" PROTEUS_VERSION;
  return options;
}

Result<> Serving::open() {
  auto directory = store::DataDirectory::open(config_.data_directory);
  if (!directory) return std::unexpected(directory.error());
  directory_ = std::move(*directory);
  auto pepper = config_.secrets.pepper ? store::Pepper::given(config_.secrets.pepper->reveal())
                                       : store::Pepper::read_or_create(*directory_);
  if (!pepper) return std::unexpected(pepper.error());
  std::optional<store::Pepper> previous;
  if (config_.secrets.previous_pepper) {
    auto given = store::Pepper::given(config_.secrets.previous_pepper->reveal());
    if (!given) return std::unexpected(given.error());
    previous = std::move(*given);
  }
  auto opened = store::SqliteStore::open({.file = directory_->file("proteus.db"), .retention = {}, .backlog = {}},
                                         store::Sealer(*pepper, previous));
  if (!opened) return std::unexpected(opened.error());
  store_ = std::move(*opened);

  const std::size_t threads =
      config_.server.threads > 0 ? config_.server.threads : std::max(1U, std::thread::hardware_concurrency());
  workers_ = std::make_unique<net::Workers>(threads);
  gateway::GatewayOptions settings = options();
  auto proxies = net::ProxySettings::from([this](const char* name) { return environment_(std::string(name)); });
  if (!proxies) return std::unexpected(proxies.error());
  settings.http.proxies = std::move(*proxies);
  gateway_ = std::make_unique<gateway::Gateway>(*workers_, clock_, environment_, *store_,
                                                SealingKey::derive(pepper->value(), "gateway"), std::move(settings));
  workers_->run();
  apply_access();
  auto& control = workers_->at(0);
  const auto set = asio::co_spawn(control, gateway_->set_upstreams(settings_of(config_)), asio::use_future).get();
  if (!set) return std::unexpected(set.error());
  const bool must_wait =
      std::ranges::any_of(config_.upstreams, [](const auto& entry) { return entry.settings.fail_fast_on_startup; });
  if (must_wait) {
    const auto started = asio::co_spawn(control, gateway_->started(), asio::use_future).get();
    if (!started) return std::unexpected(started.error());
  }
  return listen();
}

void Serving::apply_access() {
  std::vector<gateway::PrincipalSettings> principals;
  for (const auto& token : config_.auth.tokens)
    principals.push_back({token.name, token.token, token.contexts, token.upstreams});
  gateway::Access access;
  access.principals = std::make_shared<const gateway::Principals>(
      principals, serves_anonymous(config_) ? gateway::Anonymous::served : gateway::Anonymous::refused);
  for (const auto& [name, context] : config_.contexts)
    access.contexts.insert(name);
  gateway_->set_access(std::move(access));
}

Result<> Serving::listen() {
  net::HttpServerOptions options;
  options.address = config_.server.listen.host == "localhost" ? "127.0.0.1" : config_.server.listen.host;
  options.port = config_.server.listen.port;
  options.limits.body_bytes = config_.server.max_body.value();
  if (config_.server.tls.enabled()) {
    auto tls = net::TlsContext::server(config_.server.tls.certificate, config_.server.tls.key);
    if (!tls) return std::unexpected(tls.error());
    options.tls = std::move(*tls);
  }
  server_ = std::make_unique<net::HttpServer>(*workers_, std::move(options),
                                              [this](net::Exchange& exchange) { return route(exchange); });
  return server_->listen();
}

Task<> Serving::route(net::Exchange& exchange) {
  const std::string_view path = exchange.request().path();
  if (path == "/mcp" || path.starts_with("/mcp/")) return gateway_->handle(exchange);
  return [](net::Exchange& unknown) -> Task<> {
    co_await unknown.reply({.status = 404, .content_type = "text/plain"},
                           std::string_view("There is nothing at this path.\n"));
  }(exchange);
}

std::string Serving::url() const {
  const auto& listen = config_.server.listen;
  const std::string host = listen.host.contains(':') ? fmt::format("[{}]", listen.host) : listen.host;
  return fmt::format("{}://{}:{}/mcp", config_.server.tls.enabled() ? "https" : "http", host, server_->local_port());
}

Result<> Serving::reload(Config config) {
  if (config.server != config_.server || config.data_directory != config_.data_directory ||
      config.limits != config_.limits) {
    log::warning("changes of [server], of [limits] and of the data directory take effect after a restart");
  }
  auto set = asio::co_spawn(workers_->at(0), gateway_->set_upstreams(settings_of(config)), asio::use_future).get();
  if (!set) return std::unexpected(set.error());
  config_.auth = config.auth;
  config_.contexts = config.contexts;
  config_.upstreams = config.upstreams;
  config_.upstream_defaults = config.upstream_defaults;
  apply_access();
  return {};
}

void Serving::drain() {
  if (std::exchange(drained_, true) || !server_) return;
  auto drained = asio::co_spawn(workers_->at(0), server_->drain(config_.server.grace), asio::use_future);
  gateway_->end_streams();
  drained.get();
}

Serving::~Serving() {
  if (!workers_) return;
  if (server_ && !drained_) server_->stop();
  server_.reset();
  if (gateway_) gateway_->stop();
  workers_->stop();
  workers_->join();
}

}  // namespace proteus::app
