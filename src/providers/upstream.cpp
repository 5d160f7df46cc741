#include "providers/upstream.hpp"

#include <utility>

#include "base/log.hpp"
#include "client/transports.hpp"
#include "providers/declaring.hpp"

namespace proteus::providers {
namespace {

Result<client::Endpoint> endpoint_of(const UpstreamSettings& settings, const Environment& environment) {
  if (settings.command.empty()) {
    auto url = net::Url::parse(settings.url);
    if (!url) return std::unexpected(url.error());
    return std::move(*url);
  }
  std::vector<std::pair<std::string, std::string>> variables(settings.environment.begin(), settings.environment.end());
  for (const auto& name : settings.pass_environment) {
    if (const auto value = environment(name)) variables.emplace_back(name, *value);
  }
  return net::Command{.argv = settings.command, .environment = net::child_environment(variables)};
}

}  // namespace

Result<std::unique_ptr<Upstream>> Upstream::make(UpstreamSettings settings, UpstreamSurroundings surroundings) {
  auto endpoint = endpoint_of(settings, surroundings.environment);
  if (!endpoint) return std::unexpected(endpoint.error());
  auto found = credentials(settings.authentication, surroundings.environment);
  if (!found) return std::unexpected(std::move(found.error()).within("upstream " + settings.name));
  std::vector<client::Header> headers;
  if (*found) headers.emplace_back((*found)->header, (*found)->value.reveal());
  return std::unique_ptr<Upstream>(
      new Upstream(std::move(settings), std::move(surroundings), std::move(*endpoint), std::move(headers)));
}

Upstream::Upstream(UpstreamSettings settings, UpstreamSurroundings surroundings, client::Endpoint endpoint,
                   std::vector<client::Header> credentials)
    : settings_(std::move(settings)),
      name_(settings_.name),
      around_(std::move(surroundings)),
      endpoint_(std::move(endpoint)),
      credentials_(std::move(credentials)),
      rules_{settings_.effective_prefix(),
             settings_.names == NameStyle::portable ? catalog::NameStyle::portable : catalog::NameStyle::as_is},
      breaker_(around_.clock, settings_.circuit_failures, settings_.circuit_open),
      version_(around_.published_version),
      refresher_(policy(), refreshing(), client::transports_to(endpoint_, around_.io, around_.http),
                 control_options()) {}

Upstream::~Upstream() = default;

client::Options Upstream::options() const {
  client::Options options;
  options.client_info = around_.client_info;
  options.era = settings_.era;
  switch (settings_.effective_transport()) {
    case Transport::streamable_http: options.transport = client::TransportChoice::streamable_http; break;
    case Transport::sse: options.transport = client::TransportChoice::old_sse; break;
    case Transport::stdio: break;
  }
  options.connect_timeout = settings_.connect_timeout;
  options.timeout = settings_.timeout;
  options.call_timeout = settings_.call_timeout;
  options.limits.message_bytes = around_.limits.message_bytes;
  options.limits.lists = around_.limits.lists;
  options.headers = credentials_;
  options.on_stderr_line = [name = settings_.name](std::string_view line) {
    log::info("{}: {}", name, log::printable(line, 1000));
  };
  return options;
}

client::Options Upstream::control_options() const {
  client::Options control = options();
  control.handlers = *declare_everything(refuse_question);
  return control;
}

client::RefreshPolicy Upstream::policy() const {
  using Lists = client::RefreshPolicy::Lists;
  return {.lists = is_direct() ? Lists::live : Lists::kept,
          .auto_refresh = settings_.auto_refresh,
          .refresh_interval = settings_.refresh_interval,
          .event_driven_refresh = settings_.event_driven_refresh,
          .ttl = settings_.ttl,
          .health_interval = settings_.health_interval,
          .max_consecutive_failures = settings_.max_consecutive_failures,
          .debounce = around_.limits.debounce,
          .first_retry = around_.limits.first_retry,
          .last_retry = around_.limits.last_retry};
}

client::Refresher::Surroundings Upstream::refreshing() {
  return {.executor = around_.io.get_executor(),
          .clock = around_.clock,
          .chance = around_.chance,
          .breaker = breaker_,
          .name = "upstream " + settings_.label(),
          .read = [this] { return read(); },
          .on_read =
              [this](const client::Reading& reading) {
                const auto published = std::exchange(published_, std::nullopt);
                if (around_.on_refreshed) around_.on_refreshed(result_of(reading), published ? &*published : nullptr);
              },
          .on_resource_updated = around_.on_resource_updated};
}

Task<Result<catalog::Change>> Upstream::read() {
  auto offer = co_await read_lists();
  if (!offer) co_return std::unexpected(std::move(offer.error()));
  if (refresher_.is_closing()) co_return std::unexpected(errors::cancelled("the refresh"));
  co_return co_await take_over(std::move(*offer));
}

RefreshResult Upstream::result_of(const client::Reading& reading) const {
  RefreshResult result{name_, reading.at, reading.duration, reading.error, reading.change};
  result.change.upstream = name_;
  return result;
}

Task<RefreshResult> Upstream::refresh() { co_return result_of(co_await refresher_.refresh()); }

UpstreamStatus Upstream::status() const {
  UpstreamStatus status;
  {
    const std::scoped_lock lock(mutex_);
    status = status_;
  }
  const client::ServerHealth health = refresher_.health();
  status.state = health.state;
  status.last_refresh_at = health.last_refresh_at;
  if (health.last_error) status.last_error = health.last_error->message();
  status.consecutive_failures = health.consecutive_failures;
  if (const auto known = facts()) status.version = known->version;
  return status;
}

}  // namespace proteus::providers
