// Derives the options of the gateway's components from the configuration.
#include <fmt/format.h>

#include "app/serving/serving_cluster.hpp"
#include "app/serving/serving_live.hpp"
#include "gateway/sessions/tool_sessions.hpp"
#include "net/http_client/name_lookup.hpp"

namespace proteus::app {
namespace {

constexpr const char* kUserAgent = "proteus/" PROTEUS_VERSION;

}  // namespace

// The gateway's own page is allowed, because it can try tools.
server::HostRules Serving::host_rules() const {
  server::HostRules rules{.loopback = config_.server.listen.is_loopback(),
                          .allowed_origins = config_.server.allowed_origins,
                          .allowed_hosts = config_.server.allowed_hosts,
                          .own_pages = true};
  if (std::string own = public_origin(); !own.empty()) rules.allowed_origins.push_back(std::move(own));
  return rules;
}

server::HostRules Serving::operator_rules(const ListenAddress& address) const {
  return {.loopback = address.is_loopback(),
          .allowed_origins = config_.server.allowed_origins,
          .allowed_hosts = config_.server.allowed_hosts,
          .for_operators = true};
}

server::HostRules Serving::admin_rules() const {
  server::HostRules rules = operator_rules(config_.server.listen);
  rules.allowed_origins = {};
  rules.own_pages = true;
  if (const std::string origin = public_origin(); !origin.empty()) rules.allowed_origins = {origin};
  return rules;
}

std::string Serving::public_origin() const {
  const auto url = net::Url::parse(config_.server.public_url);
  return url ? std::string(url->origin()) : std::string();
}

gateway::GatewayOptions Serving::options() const {
  gateway::GatewayOptions options;
  options.service.server_info = fmt::format(R"({{"name":"proteus","version":"{}"}})", PROTEUS_VERSION);
  options.service.page_size = config_.server.page_size;
  options.service.meta = {
      .keys = config_.limits.meta_keys, .depth = config_.limits.meta_depth, .bytes = config_.limits.meta_bytes.value()};
  options.quotas = {.calls_per_principal = config_.limits.calls_per_principal,
                    .calls_per_upstream = config_.limits.calls_per_upstream,
                    .streams_per_principal = config_.limits.streams_per_principal,
                    .requests_per_minute = config_.limits.requests_per_minute};
  options.programs = {.total = config_.limits.programs, .per_upstream = config_.limits.programs_per_upstream};
  options.service.parking = {.total = config_.limits.parked_calls,
                             .per_principal = config_.limits.parked_calls_per_principal,
                             .deadline = config_.limits.parked_for};
  options.upstreams.lists.pages = config_.limits.list_pages;
  options.upstreams.lists.entries = config_.limits.list_entries;
  options.upstreams.definitions.definitions = config_.limits.list_entries;
  options.upstreams.debounce = config_.limits.debounce;
  options.debounce = config_.limits.debounce;
  if (cluster_) {
    options.leases = &cluster_->leases;
    options.service.process = cluster_->self;
    options.upstreams.shared = true;
    options.endpoint.session_ids = &cluster_->session_ids;
    options.endpoint.others = cluster_.get();
  }
  options.endpoint.hosts = host_rules();
  options.endpoint.sessions.idle = std::chrono::ceil<std::chrono::seconds>(config_.sessions.idle_timeout);
  options.endpoint.kept_events.events_per_stream = config_.sessions.events_per_stream;
  if (live_) {
    options.endpoint.events = &live_->events;
    options.endpoint.session_records = &live_->records;
  }
  options.http.user_agent = kUserAgent;
  options.http.proxies = proxies_;
  options.http.tls = client_tls_;
  options.http.address_filter = egress_->filter();
  options.http.filter_version = &egress_->version();
  options.http.names = std::make_shared<net::NameLookup>();
  return options;
}

gateway::ToolSessionOptions Serving::session_options() const {
  gateway::ToolSessionOptions options;
  options.idle = config_.sessions.idle_timeout;
  options.debounce = config_.limits.debounce;
  options.calls.timeout = config_.sessions.http_timeout;
  if (cluster_) options.process = cluster_->self;
  options.http.user_agent = kUserAgent;
  options.http.proxies = proxies_;
  options.http.tls = client_tls_;
  // Separate from the upstreams' lookup, so that tools registered in sessions cannot delay upstreams.
  options.http.names = std::make_shared<net::NameLookup>();
  return options;
}

// Without an egress filter: only the configuration file can set the endpoint.
gateway::Embeddings::Dependencies Serving::embedding_dependencies() const {
  return {.control = workers_->at(0),
          .clock = clock_,
          .store = *store_,
          .background = gateway_->background_threads(),
          .http = {.proxies = proxies_, .tls = client_tls_, .user_agent = kUserAgent},
          .lasts = [&gateway = *gateway_](const catalog::UpstreamName& name) {
            return gateway.upstreams()->find(name.value()) != nullptr;
          }};
}

std::optional<gateway::EmbeddingEndpoint> Serving::embedding_endpoint() const {
  const EmbeddingSettings& settings = config_.search.embeddings;
  if (!settings.enabled()) return std::nullopt;
  return gateway::EmbeddingEndpoint{settings.url, settings.model, settings.token};
}

net::EgressSettings Serving::egress() const {
  return {.allow_private = config_.egress.allow_private,
          .allow_loopback = config_.is_loopback_only(),
          .allow = config_.egress.allow};
}

gateway::RegistrationSettings Serving::registration(const Config& config) {
  return {.environment = config.admin.environment,
          .own_secrets = config.own_secret_variables(),
          .programs = config.admin.commands ? gateway::Commands::allowed : gateway::Commands::refused};
}

admin::AdminKeys Serving::admin_keys() const {
  std::vector<admin::AdminKey> keys = {{"admin", admin_secret_}};
  for (const auto& key : config_.admin.keys)
    keys.push_back({key.name, key.secret, key.role});
  return admin::AdminKeys(keys);
}

}  // namespace proteus::app
