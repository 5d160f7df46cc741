#include "providers/upstream.hpp"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "client/transports.hpp"
#include "providers/declaring.hpp"
#include "providers/kept_lists.hpp"

namespace proteus::providers {

namespace asio = boost::asio;

struct Upstream::Round {
  explicit Round(const Executor& executor) : ended(executor) {}

  client::Bell ended;
  std::optional<RefreshResult> result;

  void end(RefreshResult with) {
    result = std::move(with);
    ended.ring();
  }
};

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
      control_(around_.io.get_executor(), client::transports_to(endpoint_, around_.io, around_.http),
               control_options()),
      tasks_(around_.io.get_executor()),
      alarm_(around_.io),
      tried_(around_.io.get_executor()),
      asked_(around_.io.get_executor()),
      version_(around_.published_version) {}

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

client::Options Upstream::control_options() {
  client::Options control = options();
  control.reconnect_delay = around_.limits.first_retry;
  control.max_reconnect_delay = around_.limits.last_retry;
  control.handlers = *declare_everything(refuse_question);
  control.on_announcement = [this](const client::Announcement& announcement) { on_announcement(announcement); };
  // What was kept for the session is gone, and perhaps the server was started anew.
  control.on_session_lost = [this] { want_refresh(around_.limits.debounce); };
  return control;
}

std::optional<catalog::Publication> Upstream::restore(const std::vector<store::SnapshotRecord>& records) {
  if (is_direct()) return std::nullopt;
  auto snapshot = restore_lists(name_, ++version_, records, rules_, around_.limits.definitions);
  if (!snapshot) {
    log::warning("what was kept of upstream {} is not used: {}", settings_.name, snapshot.error().message());
    return std::nullopt;
  }
  if (around_.pins) snapshot = pinned(**snapshot);
  if (!snapshot) return std::nullopt;
  snapshot_ = std::move(*snapshot);
  auto published = around_.publish(snapshot_);
  if (!published) {
    log::warning("upstream {}: {}", settings_.name, published.error().message());
    return std::nullopt;
  }
  return std::move(*published);
}

void Upstream::start() {
  asio::post(around_.io, [this] { tasks_.spawn("upstream " + settings_.name, run()); });
}

Task<Result<>> Upstream::first_try() {
  while (!tried_once_)
    co_await tried_.wait();
  if (first_error_) co_return std::unexpected(*first_error_);
  co_return Result<>{};
}

void Upstream::end_first_try(std::optional<Error> error) {
  first_error_ = std::move(error);
  tried_once_ = true;
  tried_.ring();
}

RefreshResult Upstream::cancelled_refresh() const {
  return {name_, around_.clock.wall(), {}, errors::cancelled("the refresh"), {}};
}

Task<> Upstream::close() {
  closing_ = true;
  asked_.ring();
  tasks_.cancel();
  alarm_.cancel();
  co_await control_.close();
  co_await tasks_.join();
  if (!tried_once_) end_first_try(errors::cancelled("the refresh"));
  if (const auto waited = std::exchange(next_, nullptr)) waited->end(cancelled_refresh());
}

// One thing after the other: lists are never read twice at the same time, and a slow one delays nobody else's.
Task<> Upstream::run() {
  want_refresh({});
  health_at_ = around_.clock.now() + settings_.health_interval;
  while (!closing_) {
    const auto now = around_.clock.now();
    if (next_ || (refresh_at_ && *refresh_at_ <= now) || (poll_at_ && *poll_at_ <= now)) {
      co_await read_lists();
      continue;
    }
    if (listen_at_ && *listen_at_ <= now) {
      start_listening();
      continue;
    }
    if (health_at_ <= now) {
      co_await check_health();
      continue;
    }
    Clock::Monotonic until = health_at_;
    if (refresh_at_) until = std::min(until, *refresh_at_);
    if (poll_at_) until = std::min(until, *poll_at_);
    if (listen_at_) until = std::min(until, *listen_at_);
    alarm_.expires_at(until);
    boost::system::error_code ignored;
    co_await alarm_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

bool Upstream::polls() const {
  if (is_direct() || settings_.ttl.count() > 0) return false;
  // Polling stands in for announcements that are interrupted, or have yet to begin.
  return settings_.auto_refresh || (listening_ && !announcing_);
}

void Upstream::want_refresh(std::chrono::milliseconds in) {
  const auto at = around_.clock.now() + in;
  if (!refresh_at_ || at < *refresh_at_) refresh_at_ = at;
  alarm_.cancel();
}

// However it ends, also by `close`, whoever waits for it is told.
Task<> Upstream::read_lists() {
  const std::shared_ptr<Round> round = std::exchange(next_, nullptr);
  refresh_at_.reset();
  poll_at_.reset();
  const auto began = around_.clock.now();
  read_at_ = began;
  RefreshResult result;
  result.upstream = name_;
  Result<catalog::SnapshotPointer> snapshot;
  try {
    snapshot = co_await discover();
  } catch (const std::exception& fault) {
    snapshot = std::unexpected(errors::internal(fault.what()));
  }
  result.at = around_.clock.wall();
  result.duration = std::chrono::duration_cast<std::chrono::milliseconds>(around_.clock.now() - began);
  if (closing_) {
    result = cancelled_refresh();
  } else {
    conclude(result, std::move(snapshot));
  }
  if (!tried_once_) end_first_try(result.error);
  if (polls() && !poll_at_)
    poll_at_ = around_.clock.now() + client::jittered(settings_.refresh_interval, around_.chance);
  if (round) round->end(std::move(result));
}

// Whatever goes wrong with one reading, the next one comes.
void Upstream::conclude(RefreshResult& result, Result<catalog::SnapshotPointer> snapshot) {
  try {
    if (snapshot) return succeeded(result, std::move(*snapshot));
    failed(result, std::move(snapshot.error()));
  } catch (const std::exception& fault) {
    log::error("upstream {}: what was read is not taken over: {}", settings_.name, fault.what());
    result.error = errors::internal(fault.what());
    want_refresh(client::backoff(1, around_.limits.first_retry, around_.limits.last_retry, around_.chance));
  }
}

Task<Result<catalog::SnapshotPointer>> Upstream::discover() {
  const auto opened = co_await control_.open();
  if (!opened) co_return std::unexpected(opened.error());
  note_facts(*opened);
  co_await begin_listening();
  std::array<client::Listing, catalog::kKinds.size()> listings;
  catalog::RawListing raw;
  raw.facts = provider_facts(**opened);
  for (const catalog::Kind kind : catalog::kKinds) {
    if (is_direct() && !around_.pins) continue;
    auto listing = co_await control_.list(catalog::info(kind).list_method);
    if (!listing) co_return std::unexpected(std::move(listing.error()));
    client::Listing& kept = listings[catalog::index_of(kind)] = std::move(*listing);
    auto& texts = raw.definitions[kind].emplace();
    for (const auto& entry : kept.entries)
      texts.push_back(entry.definition);
    raw.facts.caching[kind] = kept.caching;
  }
  note_facts(control_.facts());
  auto built = catalog::build_snapshot(name_, version_ + 1, std::move(raw), rules_, around_.limits.definitions,
                                       around_.pins ? listed_ : snapshot_);
  if (!built || !around_.pins) co_return built;
  listed_ = std::move(*built);
  co_return pinned(*listed_);
}

void Upstream::succeeded(RefreshResult& result, catalog::SnapshotPointer snapshot) {
  auto published = around_.publish(snapshot);
  if (!published) return failed(result, std::move(published.error()));
  const bool first = !snapshot_;
  ++version_;
  for (const auto& change : published->changes)
    result.change = change;
  result.change.upstream = name_;
  snapshot_ = std::move(snapshot);
  breaker_.succeeded();
  {
    const std::scoped_lock lock(mutex_);
    status_.state = UpstreamState::connected;
    status_.last_refresh_at = result.at;
    status_.last_error.clear();
    status_.consecutive_failures = 0;
    status_.tools = snapshot_->list(catalog::Kind::tool).size();
    status_.prompts = snapshot_->list(catalog::Kind::prompt).size();
    status_.resources = snapshot_->list(catalog::Kind::resource).size();
    status_.resource_templates = snapshot_->list(catalog::Kind::resource_template).size();
    status_.omissions.clear();
    const catalog::Snapshot& offered = around_.pins ? *listed_ : *snapshot_;
    for (const catalog::Kind kind : catalog::kKinds) {
      const auto& omitted = offered.list(kind).omissions();
      status_.omissions.insert(status_.omissions.end(), omitted.begin(), omitted.end());
    }
    refreshed_at_ = around_.clock.now();
  }
  if (around_.pins) report_pins();
  if (around_.keep && !is_direct() && (first || !result.change.empty())) {
    around_.keep(keep_lists(*snapshot_, *facts(), around_.clock.wall()));
  }
  if (around_.on_refreshed) around_.on_refreshed(result, &*published);
}

void Upstream::failed(RefreshResult& result, Error error) {
  unsigned failures = 0;
  {
    const std::scoped_lock lock(mutex_);
    failures = ++status_.consecutive_failures;
    status_.state = failures >= settings_.max_consecutive_failures ? UpstreamState::failed : UpstreamState::degraded;
    status_.last_error = error.message();
  }
  // The first of several says it loudly, and the one that makes it failed; the rest is repetition.
  const auto level =
      failures == 1 || failures == settings_.max_consecutive_failures ? log::Level::warning : log::Level::debug;
  log::at(level, "upstream {} cannot be read: {}", settings_.name, error.message());
  want_refresh(client::backoff(failures, around_.limits.first_retry, around_.limits.last_retry, around_.chance));
  result.error = std::move(error);
  result.change.upstream = name_;
  if (around_.on_refreshed) around_.on_refreshed(result, nullptr);
}

Task<std::shared_ptr<Upstream::Round>> Upstream::join_round() {
  if (closing_) co_return nullptr;
  if (!next_) next_ = std::make_shared<Round>(around_.io.get_executor());
  const auto round = next_;
  alarm_.cancel();
  while (!round->result)
    co_await round->ended.wait();
  co_return round;
}

Task<RefreshResult> Upstream::refresh() {
  const auto round = co_await asio::co_spawn(around_.io, join_round(), asio::use_awaitable);
  if (round) co_return *round->result;
  co_return cancelled_refresh();
}

Task<> Upstream::freshen() {
  if (settings_.ttl.count() == 0 || is_direct()) co_return;
  {
    const std::scoped_lock lock(mutex_);
    if (refreshed_at_ && around_.clock.now() - *refreshed_at_ < settings_.ttl) co_return;
  }
  co_await refresh();
}

std::shared_ptr<const client::ServerFacts> Upstream::facts() const {
  const std::scoped_lock lock(mutex_);
  return facts_;
}

UpstreamStatus Upstream::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

std::string_view to_string(UpstreamState state) {
  switch (state) {
    case UpstreamState::connecting: return "connecting";
    case UpstreamState::connected: return "connected";
    case UpstreamState::degraded: return "degraded";
    case UpstreamState::failed: return "failed";
  }
  return "connecting";
}

}  // namespace proteus::providers
