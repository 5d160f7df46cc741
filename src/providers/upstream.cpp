#include "providers/upstream.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "client/connection/transports.hpp"
#include "providers/declaring.hpp"

namespace proteus::providers {
namespace {

// The timeout of each request that looks for a legacy side. Nobody waits for these requests.
constexpr std::chrono::seconds kLook{5};
// How often a look that failed is repeated, in all. The next reading begins again.
constexpr unsigned kLooks = 8;

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

client::ListFault unimplemented(catalog::Kind kind) {
  return {kind, client::ListFault::Cause::unimplemented,
          fmt::format("{}: the upstream does not know the method", mcp::to_string(catalog::info(kind).list_method))};
}

}  // namespace

Result<std::unique_ptr<Upstream>> Upstream::make(UpstreamSettings settings, UpstreamDependencies dependencies) {
  auto endpoint = endpoint_of(settings, dependencies.environment);
  if (!endpoint) return std::unexpected(endpoint.error());
  auto found = credentials(settings.authentication, dependencies.environment);
  if (!found) return std::unexpected(std::move(found.error()).within("upstream " + settings.name));
  std::vector<client::Header> headers;
  if (*found) headers.emplace_back((*found)->header, (*found)->value.reveal());
  return std::unique_ptr<Upstream>(
      new Upstream(std::move(settings), std::move(dependencies), std::move(*endpoint), std::move(headers)));
}

Upstream::Upstream(UpstreamSettings settings, UpstreamDependencies dependencies, client::Endpoint endpoint,
                   std::vector<client::Header> credentials)
    : settings_(std::move(settings)),
      name_(settings_.name),
      dependencies_(std::move(dependencies)),
      endpoint_(std::move(endpoint)),
      credentials_(std::move(credentials)),
      oauth_target_(settings_.authentication.is_oauth() ? providers::oauth_target(settings_) : std::string()),
      rules_(name_rules(settings_)),
      required_scopes_(providers::required_scopes(settings_.tools)),
      shape_(shape_of(settings_.tools)),
      log_(std::make_shared<StrangerLog>("upstream " + settings_.label(), dependencies_.clock)),
      printed_(std::make_shared<StrangerLog>(settings_.name, dependencies_.clock)),
      breaker_(dependencies_.clock, settings_.circuit_failures, settings_.circuit_open, "upstream " + settings_.name),
      version_(dependencies_.published_version),
      offering_(dependencies_.io.get_executor()),
      looks_(dependencies_.io.get_executor()),
      refresher_(policy(), refreshing(), client::transports_to(endpoint_, dependencies_.io, dependencies_.http),
                 control_options()) {}

Upstream::~Upstream() = default;

client::Options Upstream::options() const {
  client::Options options = basic_options();
  options.known = refresher_.known();
  options.background = &dependencies_.answers;
  if (dependencies_.limits.shared) options.epoch = new_epoch();
  return options;
}

client::Options Upstream::basic_options() const {
  client::Options options;
  options.client_info = dependencies_.client_info;
  options.era = settings_.era;
  if (settings_.transport == Transport::streamable_http) options.transport = client::TransportChoice::streamable_http;
  if (settings_.transport == Transport::sse) options.transport = client::TransportChoice::old_sse;
  options.connect_timeout = settings_.connect_timeout;
  options.timeout = settings_.timeout;
  options.call_timeout = settings_.call_timeout;
  options.limits.message_bytes = settings_.max_message_bytes.value();
  options.limits.lists = dependencies_.limits.lists;
  options.headers = credentials_;
  if (!is_per_caller()) options.authorizer = dependencies_.authorizer;
  // For connections that belong to no caller.
  options.on_unclaimed = [log = log_](const json::Message& notification) {
    log->debug("a notification has no receiver: {}", log::printable(notification.method, 64));
  };
  options.start_places = dependencies_.start_places;
  options.log = log_;
  options.on_stderr_line = [log = printed_](std::string_view line) { log->info("{}", line); };
  return options;
}

client::Options Upstream::control_options() const {
  client::Options control = basic_options();
  control.authorizer = dependencies_.authorizer;
  control.handlers = *declare_everything(refuse_question);
  control.background = &dependencies_.background;
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
          .debounce = dependencies_.limits.debounce,
          .first_retry = dependencies_.limits.first_retry,
          .last_retry = dependencies_.limits.last_retry};
}

client::Refresher::Dependencies Upstream::refreshing() {
  return {.executor = dependencies_.io.get_executor(),
          .clock = dependencies_.clock,
          .chance = dependencies_.chance,
          .breaker = breaker_,
          .name = "upstream " + settings_.label(),
          .read = [this] { return read(); },
          .on_read =
              [this](const client::Reading& reading) {
                const auto published = std::exchange(published_, std::nullopt);
                RefreshResult result = result_of(reading);
                result.is_logged_elsewhere = dependencies_.shared && (!read_by_ || dependencies_.fence() != read_by_);
                if (dependencies_.on_refreshed) dependencies_.on_refreshed(result, published ? &*published : nullptr);
              },
          .on_resource_updated = dependencies_.on_resource_updated,
          .on_lists_changed =
              [this](catalog::KindSet kinds) {
                lists_changed();
                if (dependencies_.on_lists_changed) dependencies_.on_lists_changed(kinds);
              }};
}

Task<> Upstream::close() {
  looks_.cancel();
  co_await refresher_.close();
  co_await looks_.join();
}

// Excludes programs: one would have to be started, and each of a program's legacy clients has its own process.
bool Upstream::may_have_legacy_side() const { return is_modern() && !settings_.era && settings_.command.empty(); }

Task<> Upstream::look_at_legacy_side() {
  looking_ = true;
  const std::shared_ptr<void> end(nullptr, [this](void*) { looking_ = false; });
  looked_at_ = facts();
  for (unsigned looks = 1;; ++looks) {
    auto side = co_await look_once();
    if (side) {
      note_legacy_side(std::move(*side));
      co_return;
    }
    // What was known remains in use. The next reading begins to look again.
    if (looks == kLooks || !may_have_legacy_side() || refresher_.is_closing()) break;
    const auto& limits = dependencies_.limits;
    co_await sleep_for(client::backoff(looks, limits.first_retry, limits.last_retry, dependencies_.chance));
  }
  looked_at_.reset();
}

Task<Result<std::shared_ptr<const LegacySide>>> Upstream::look_once() {
  client::Options options = control_options();
  options.era = mcp::Era::legacy;
  options.timeout = std::min<std::chrono::milliseconds>(options.timeout, kLook);
  client::Connection connection(dependencies_.io.get_executor(),
                                client::transports_to(endpoint_, dependencies_.io, dependencies_.http),
                                std::move(options));
  Result<std::shared_ptr<const LegacySide>> side;
  try {
    side = co_await providers::look_at_legacy_side(connection);
  } catch (const std::exception& fault) {  // also thrown when the upstream is closed
    side = std::unexpected(errors::internal(fault.what()));
  }
  co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
  co_await connection.close();
  co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::enable_terminal_cancellation());
  co_return side;
}

void Upstream::note_legacy_side(std::shared_ptr<const LegacySide> side) {
  const std::scoped_lock lock(mutex_);
  if (side && !legacy_side_) {
    log::info("upstream {} speaks both eras: clients of the legacy era have legacy sessions with it",
              settings_.label());
  }
  has_legacy_side_ = side != nullptr;
  legacy_side_ = std::move(side);
}

std::shared_ptr<const LegacySide> Upstream::legacy_side() const {
  if (!has_legacy_side_.load(std::memory_order_acquire)) return nullptr;
  const std::scoped_lock lock(mutex_);
  return legacy_side_;
}

void Upstream::forget_legacy_side() {
  const std::scoped_lock lock(mutex_);
  has_legacy_side_ = false;
  legacy_side_.reset();
}

RefreshResult Upstream::result_of(const client::Reading& reading) const {
  RefreshResult result{name_, reading.at, reading.duration, reading.error, reading.change};
  result.change.upstream = name_;
  return result;
}

void Upstream::answered_live(catalog::Kind kind, bool implemented) {
  if (kind == catalog::Kind::resource_template) return;  // servers do not declare templates
  auto& flag = unimplemented_[kind];
  if (flag.load(std::memory_order_relaxed) == !implemented) return;
  if (flag.exchange(!implemented) || implemented) return;
  client::log_unimplemented("upstream " + settings_.label(), {}, {unimplemented(kind)});
}

// Drops the instructions, which the server may have meant for one caller only.
bool Upstream::learn(const client::ServerFacts& facts) {
  const auto known = refresher_.facts();
  if (known ? known->era() == facts.era() : !waits_for_callers()) return false;
  auto learned = std::make_shared<client::ServerFacts>(facts);
  learned->instructions.clear();
  refresher_.learn(std::move(learned));
  return true;
}

void Upstream::start() {
  if (!waits_for_callers()) boost::asio::post(dependencies_.io, [this] { watch_as_told(); });
}

void Upstream::set_leading(bool leading) {
  if (leads_.exchange(leading) != leading) start();
}

// A process whose clients follow resources must receive their updates itself.
void Upstream::follow(std::set<std::string> uris) {
  const bool follows = !uris.empty();
  refresher_.follow(std::move(uris));
  if (follows_.exchange(follows) != follows && dependencies_.shared) start();
}

void Upstream::watch_as_told() {
  if (refresher_.is_closing()) return;
  if (started_) return refresher_.set_paused(!is_watched());
  if (!is_watched()) return;
  started_ = true;
  refresher_.start();
}

Task<> Upstream::freshen() {
  if (is_watched()) co_await refresher_.freshen();
}

Task<Result<>> Upstream::first_try() {
  if (waits_for_callers() || !is_watched()) co_return Result<>{};
  co_return co_await refresher_.first_try();
}

Task<RefreshResult> Upstream::refresh() {
  if (waits_for_callers()) co_return result_of({.at = dependencies_.clock.wall()});
  // Asks even if this process believes that it watches: only the process that really does can store what it finds.
  std::shared_ptr<void> leading;
  if (dependencies_.shared) {
    auto led = co_await dependencies_.lead();
    if (!reads_lists()) {
      auto why = led ? errors::conflict("another process has begun to watch it meanwhile") : std::move(led.error());
      co_return result_of({.at = dependencies_.clock.wall(), .error = std::move(why)});
    }
    if (led) leading = std::move(*led);
  }
  co_return result_of(co_await refresher_.refresh());
}

Task<Result<>> Upstream::tells_of(std::string uri) {
  if (waits_for_callers())
    co_return std::unexpected(errors::unsupported("the gateway has no account of its own to follow resources by"));
  co_return co_await refresher_.tells_of(std::move(uri));
}

Task<> Upstream::announced() {
  if (!waits_for_callers() && reads_lists()) co_await refresher_.announced();
}

UpstreamStatus Upstream::status() const {
  UpstreamStatus status;
  {
    const std::scoped_lock lock(mutex_);
    status = status_;
  }
  for (const catalog::Kind kind : catalog::kKinds) {
    if (unimplemented_[kind]) status.list_faults.push_back(unimplemented(kind));
  }
  const client::ServerHealth health = refresher_.health();
  status.state = health.state;
  status.circuit = health.circuit;
  status.watch = is_watched() ? health.watch : client::Watch::elsewhere;
  status.last_refresh_at = health.last_refresh_at;
  if (health.last_error) status.last_error = health.last_error->message();
  status.consecutive_failures = health.consecutive_failures;
  if (const auto known = refresher_.known(); known.facts) {
    status.version = known.facts->version;
    status.transport =
        settings_.effective_transport().value_or(known.old_sse ? Transport::sse : Transport::streamable_http);
  }
  return status;
}

}  // namespace proteus::providers
