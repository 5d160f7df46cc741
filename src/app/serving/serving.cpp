#include "app/serving/serving.hpp"

#include <algorithm>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>

#include "app/serving/admin_secret.hpp"
#include "app/serving/served_manifests.hpp"
#include "app/serving/serving_cluster.hpp"
#include "app/serving/serving_dependencies.hpp"
#include "app/serving/serving_live.hpp"
#include "base/log/log.hpp"
#include "gateway/callers/context_review.hpp"
#include "net/http_client/client_tls.hpp"
#include "net/http_client/proxy.hpp"
#include "server/stdio/stdio_endpoint.hpp"

namespace proteus::app {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds kFirstLists{3};
// How long a member of a cluster keeps idle connections when a drain begins. A load balancer uses its open connections
// before it opens new ones, and notices the drain when a new connection is refused.
constexpr std::chrono::milliseconds kIdle{500};
constexpr std::chrono::milliseconds kLastWords{200};
constexpr std::chrono::milliseconds kLook{10};

bool serves_anonymous(const Config& config) {
  switch (config.auth.admitted_anonymous()) {
    case Anonymous::loopback: return config.is_loopback_only();
    case Anonymous::never: return false;
    case Anonymous::always: return true;
  }
  return false;
}

}  // namespace

Serving::Serving(Config config, Environment environment, Front front)
    : config_(std::move(config)), admin_rules_(admin_rules()), environment_(std::move(environment)), front_(front) {}

Result<std::unique_ptr<Serving>> Serving::start(Config config, Environment environment, Front front) {
  std::unique_ptr<Serving> serving(new Serving(std::move(config), std::move(environment), front));
  if (auto opened = serving->open(); !opened) return std::unexpected(opened.error());
  return serving;
}

Result<> Serving::open() {
  if (auto opened = open_store(); !opened) return opened;
  const std::size_t threads =
      config_.server.threads > 0 ? config_.server.threads : std::max(1U, std::thread::hardware_concurrency());
  workers_ = std::make_unique<net::Workers>(threads);
  admin_secret_ = config_.secrets.admin_secret ? *config_.secrets.admin_secret : derive_admin_secret(pepper_->value());
  egress_ = std::make_unique<gateway::Egress>(egress());
  auto proxies = net::ProxySettings::from([this](const char* name) { return environment_(std::string(name)); });
  if (!proxies) return std::unexpected(proxies.error());
  proxies_ = std::move(*proxies);
  // Read once and here, because that takes long. All clients share it.
  auto upstream_tls = net::client_tls({});
  if (!upstream_tls) return std::unexpected(upstream_tls.error());
  client_tls_ = std::move(*upstream_tls);
  if (config_.cluster.enabled) cluster_ = std::make_unique<Cluster>(*this, workers_->at(0));
  if (auto opened = open_live(); !opened) return opened;
  datasets::MappingDirectory mappings(
      config_.datasets.mappings,
      datasets::Seals(pepper_->value(),
                      previous_pepper_ ? std::optional<std::string_view>(previous_pepper_->value()) : std::nullopt));
  if (previous_pepper_) {
    if (const auto resealed = mappings.reseal(); !resealed) return std::unexpected(resealed.error());
  }
  // From here to `run` nothing may fail: a gateway can be stopped only while the workers run.
  gateway_ = std::make_unique<gateway::Gateway>(*workers_, clock_, environment_, *store_,
                                                SealingKey::derive(pepper_->value(), "gateway"), options());
  auto& control = workers_->at(0);
  dependencies_ = std::make_unique<Dependencies>(*this, control, std::move(mappings), pepper_->value());
  // A client on standard input cannot open a page to sign in.
  if (front_ == Front::http) gateway_->service().set_sign_ins(dependencies_->sign_ins.questions());
  gateway_->set_locals({dependencies_->dataset_tools, dependencies_->search_tools});
  gateway_->set_on_refreshed([this](const providers::RefreshResult& result, const catalog::Publication*) {
    dependencies_->metrics.refreshed(result);
    dependencies_->changes.refreshed(result);
  });
  gateway_->set_on_changed(
      [this](const catalog::Publication& publication) { dependencies_->changes.changed(publication, clock_.wall()); });
  workers_->run();
  start_live();
  workers_->watch_stalls(config_.limits.worker_stall);
  if (auto joined = join_cluster(); !joined) return joined;
  if (previous_pepper_) {
    const auto resealed = asio::co_spawn(control, store_->reseal(), asio::use_future).get();
    if (!resealed) return std::unexpected(resealed.error());
  }
  apply_access();
  if (const auto loaded = asio::co_spawn(control, dependencies_->tokens.load(), asio::use_future).get(); !loaded)
    return loaded;
  asio::post(control, [this] { dependencies_->tokens.start(); });
  const auto sessions = asio::co_spawn(control, dependencies_->sessions.load(), asio::use_future).get();
  if (!sessions) return sessions;
  asio::post(control, [this] { dependencies_->sessions.start(); });
  if (const auto loaded = asio::co_spawn(control, dependencies_->datasets.load(), asio::use_future).get(); !loaded)
    return loaded;
  if (const auto loaded = asio::co_spawn(control, load_upstreams(), asio::use_future).get(); !loaded) return loaded;
  start_following();
  const bool must_wait =
      std::ranges::any_of(config_.upstreams, [](const auto& entry) { return entry.settings.fail_fast_on_startup; });
  if (must_wait) {
    const auto started = asio::co_spawn(control, gateway_->started(), asio::use_future).get();
    if (!started) return std::unexpected(started.error());
  }
  asio::post(control, [this] { dependencies_->background.spawn("start-up discovery", become_ready()); });
  if (cluster_) cluster_->serves = true;
  return front_ == Front::http ? listen() : Result<>{};
}

Task<Result<>> Serving::load_upstreams() {
  return dependencies_->registry.load(config_.upstreams, config_.upstream_defaults, registration(config_));
}

Task<> Serving::become_ready() {
  const auto started = co_await gateway_->started();
  if (!started) log::warning("{}", started.error().message());
  report_contexts();
  dependencies_->readiness.set(admin::Readiness::State::ready);
  tried_.set_value();
}

void Serving::apply_access() {
  std::vector<gateway::PrincipalSettings> principals;
  principals.reserve(config_.auth.tokens.size());
  for (const auto& token : config_.auth.tokens)
    principals.push_back({.name = token.name,
                          .token = token.token,
                          .contexts = token.contexts,
                          .upstreams = token.upstreams,
                          .entries = {token.tools, token.deny, token.read_only},
                          .requests_per_minute = token.requests_per_minute,
                          .expires = token.expires,
                          .disclosure = token.disclosure});
  dependencies_->embeddings.set(embedding_endpoint());
  dependencies_->workshop.set_variables(config_.datasets.environment);
  const auto current = gateway_->access();
  gateway::Access access;
  access.principals = std::make_shared<const gateway::Principals>(
      principals,
      front_ == Front::stdio || serves_anonymous(config_) ? gateway::Anonymous::served : gateway::Anonymous::refused,
      current->principals.get());
  const auto before = current->contexts;
  manifests_ = served_manifests(config_, before ? &manifests_ : nullptr);
  access.contexts = catalog::Contexts::make(
      manifests_, [this](const std::string& dataset) { return dependencies_->datasets.state()->types_of(dataset); },
      before.get());
  gateway_->set_access(std::move(access));
  gateway_->set_identities(identity_settings(config_.auth.issuers, config_.auth.rules));
  dependencies_->router.end_withdrawn();
}

void Serving::report_contexts() const {
  const auto contexts = gateway_->access()->contexts;
  const auto state = gateway_->catalog().current();
  const auto upstreams = gateway_->upstreams();
  for (const auto& [name, context] : contexts->all()) {
    for (const auto& warning : gateway::context_warnings(*context, *state, *upstreams))
      log::warning("context {}: {}", name, warning);
  }
}

Result<> Serving::listen() {
  auto tls = read_tls();
  if (!tls) return std::unexpected(tls.error());
  // Requests may come before `listen` has returned, and need what is set here.
  const auto& address = config_.server.listen;
  server_ = make_server(address, *tls, [this, operators = operator_rules(address)](net::Exchange& exchange) {
    const std::string_view path = exchange.request().path();
    if (admin::Router::owns(path) || admin::Page::owns(path)) return route_admin(exchange);
    return route(exchange, operators);
  });
  if (!config_.server.public_url.empty()) gateway_->identities().set_public_url(public_url());
  if (auto listening = server_->listen(); !listening) return listening;
  gateway_->identities().set_public_url(public_url());
  report_sign_ins();
  if (!config_.server.ops_listen) return {};
  const auto& ops_address = *config_.server.ops_listen;
  ops_server_ =
      make_server(ops_address, *tls, [this, operators = operator_rules(ops_address)](net::Exchange& exchange) {
        return route_ops(exchange, operators);
      });
  return ops_server_->listen();
}

std::vector<std::filesystem::path> Serving::tls_files() const {
  if (!config_.server.tls.enabled()) return {};
  return {config_.server.tls.certificate, config_.server.tls.key};
}

Result<std::optional<net::TlsContext>> Serving::read_tls() const {
  if (!config_.server.tls.enabled()) return std::nullopt;
  return net::TlsContext::server(config_.server.tls.certificate, config_.server.tls.key);
}

Result<> Serving::renew_tls() {
  const auto tls = read_tls();
  if (!tls) return std::unexpected(tls.error());
  for (net::HttpServer* const server : {server_.get(), ops_server_.get()}) {
    if (server != nullptr && *tls) server->set_tls(**tls);
  }
  return {};
}

std::unique_ptr<net::HttpServer> Serving::make_server(const ListenAddress& address, std::optional<net::TlsContext> tls,
                                                      net::HttpHandler handler) {
  net::HttpServerOptions options;
  options.address = address.host == "localhost" ? "127.0.0.1" : address.host;
  options.port = address.port;
  options.limits.body_bytes = config_.server.max_body.value();
  options.refusals = &gateway_->refusals();
  options.trusted_proxies = config_.server.trusted_proxies;
  options.tls = std::move(tls);
  return std::make_unique<net::HttpServer>(*workers_, std::move(options), std::move(handler));
}

void Serving::report_sign_ins() const {
  for (const auto& issuer : gateway_->identities().sign_in_issuers()) {
    log::info("people who sign in at {} come back to {}", issuer,
              gateway::redirect_uri_for(gateway_->identities().gateway_url(), issuer));
  }
}

std::string Serving::origin() const {
  const auto& listen = config_.server.listen;
  const std::string host = listen.host.contains(':') ? fmt::format("[{}]", listen.host) : listen.host;
  return fmt::format("{}://{}:{}", config_.server.tls.enabled() ? "https" : "http", host, server_->local_port());
}

std::string Serving::url() const { return origin() + "/mcp"; }

std::string Serving::first_link() {
  if (!dependencies_->registry.all()->empty() || admin::page_files().empty()) return {};
  auto holder = dependencies_->router.auth().admit(admin_secret_.reveal());
  if (!holder) return {};
  const std::string known_as = public_origin();
  return (known_as.empty() ? origin() : known_as) + dependencies_->page.link_for(std::move(*holder));
}

Result<> Serving::reload(Config config) {
  if (config.server != config_.server || config.data_directory != config_.data_directory ||
      config.limits != config_.limits || config.sessions != config_.sessions || config.cluster != config_.cluster ||
      config.telemetry != config_.telemetry) {
    log::warning(
        "changes of [server], [limits], [sessions], [cluster], [telemetry] and of the data directory take effect after "
        "a restart");
  }
  config_.egress = config.egress;
  config_.auth = config.auth;
  config_.admin = config.admin;
  config_.contexts = config.contexts;
  config_.schemas = config.schemas;
  config_.broken = config.broken;
  config_.upstreams = config.upstreams;
  config_.upstream_defaults = config.upstream_defaults;
  config_.datasets = config.datasets;
  config_.search = config.search;
  egress_->set_rules(egress());
  dependencies_->router.set_keys(admin_keys());
  // First, because everything else may wait for the store.
  apply_access();
  auto loaded = reload_upstreams();
  asio::co_spawn(workers_->at(0),
                 dependencies_->datasets.set_directory(config_.datasets.mappings, offering_of(config_)),
                 asio::use_future)
      .get();
  return loaded;
}

Result<> Serving::reload_upstreams() {
  auto loaded = asio::co_spawn(workers_->at(0), load_upstreams(), asio::use_future).get();
  if (!loaded) return loaded;
  if (cluster_) cluster_->traits.configured(config_);
  report_contexts();
  return loaded;
}

Result<> Serving::serve(server::StdioPipes& pipes, const std::string& context) {
  // A client lists tools once and at once: fast upstreams should be in that list, slow ones are announced later.
  tried_.get_future().wait_for(kFirstLists);
  auto& io = workers_->at(0);
  server::StdioOptions options;
  options.caller.grant = gateway_->access()->principals->anonymous();
  // This anonymous client is the only one, so it gets a principal: what upstreams keep for it is its own.
  options.caller.principal = "standard input";
  options.caller.context = context;
  server::StdioEndpoint endpoint(gateway_->service(), gateway_->listeners(), clock_, SealingKey::random(), options,
                                 io.get_executor(),
                                 [&pipes](std::string line) { return pipes.write(std::move(line)); });
  return server::serve(endpoint, pipes, io, config_.server.grace);
}

void Serving::drain() {
  if (std::exchange(drained_, true) || !server_) return;
  dependencies_->readiness.set(admin::Readiness::State::draining);
  const auto ends = clock_.now() + config_.server.grace;
  server::drain(*server_, *workers_, gateway_->endpoint(), config_.server.grace, cluster_ ? kIdle : kIdle.zero());
  if (!peer_server_) return;
  // A call that another process has relayed may ask its client for input, and the answer arrives as a separate request.
  // So peers are served while any such call runs.
  while (gateway_->endpoint().sessions().hand_over() > 0 && clock_.now() < ends)
    std::this_thread::sleep_for(kLook);
  cluster_->requests.wait_for_present(ends);
  leave_cluster();
  // A peer that has not noticed sends one more request; the answer makes it look for the session elsewhere.
  if (config_.server.grace.count() > 0) std::this_thread::sleep_for(kLastWords);
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(ends - clock_.now());
  server::drain(*peer_server_, *workers_, gateway_->endpoint(), std::max(left, std::chrono::milliseconds(0)));
}

Serving::~Serving() {
  if (!workers_) return;
  if (gateway_) gateway_->end_streams();
  if (server_ && !drained_) server_->stop();
  if (ops_server_) ops_server_->stop();
  if (peer_server_ && !drained_) peer_server_->stop();
  server_.reset();
  ops_server_.reset();
  peer_server_.reset();
  leave_cluster();
  if (gateway_) gateway_->stop();
  close_live();
  if (dependencies_) {
    const auto end = [](Dependencies& around) -> Task<> {
      co_await around.background.join();
      co_await around.sessions.stop();
      co_await around.tokens.stop();
      co_await around.datasets.stop();
      co_await around.embeddings.stop();
      co_await around.changes.stop();
    };
    asio::co_spawn(workers_->at(0), end(*dependencies_), asio::use_future).get();
  }
  workers_->stop();
  workers_->join();
  // Work for requests that were cut off may still use the dependencies.
  if (gateway_) gateway_->background_threads().stop();
}

}  // namespace proteus::app
