#include "client/connection/refresher.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"
#include "client/connection/calls.hpp"

namespace proteus::client {

namespace asio = boost::asio;

struct Refresher::Round {
  explicit Round(const Executor& executor) : ended(executor) {}

  Bell ended;
  std::optional<Reading> reading;

  Task<> wait() {
    while (!reading)
      co_await ended.wait();
  }
  void end(Reading with) {
    reading = std::move(with);
    ended.ring();
  }
};

Refresher::Refresher(RefreshPolicy policy, Dependencies around, MakerFactory make, Options options)
    : policy_(policy),
      dependencies_(std::move(around)),
      timeout_(options.timeout),
      log_(options.log),
      connection_(dependencies_.executor, std::move(make), with_announcements(std::move(options))),
      tasks_(dependencies_.executor),
      alarm_(dependencies_.executor),
      tried_(dependencies_.executor),
      reading_(policy_.debounce),
      asked_(dependencies_.executor),
      auto_refresh_(policy_.auto_refresh) {}

Options Refresher::with_announcements(Options options) {
  options.reconnect_delay = policy_.first_retry;
  options.max_reconnect_delay = policy_.last_retry;
  options.on_announcement = [this](const Announcement& announcement) { on_announcement(announcement); };
  options.on_agreed = [this](const ServerFacts&) { agreed(); };
  // The session's state is lost, and perhaps the server was restarted.
  options.on_session_lost = [this] { want_refresh(reading_.window()); };
  options.on_era_corrected = [this] { want_refresh({}); };
  return options;
}

void Refresher::start() {
  asio::post(dependencies_.executor, [this] { tasks_.spawn(dependencies_.name, run()); });
}

Task<Result<>> Refresher::first_try() {
  while (!tried_once_)
    co_await tried_.wait();
  if (first_error_) co_return std::unexpected(*first_error_);
  co_return Result<>{};
}

void Refresher::end_first_try(std::optional<Error> error) {
  first_error_ = std::move(error);
  tried_once_ = true;
  tried_.ring();
}

Reading Refresher::cancelled_reading() const {
  return {.at = dependencies_.clock.wall(), .error = errors::cancelled("the refresh")};
}

Task<> Refresher::close() {
  closing_ = true;
  asked_.ring();
  tasks_.cancel();
  alarm_.cancel();
  co_await connection_.close();
  co_await tasks_.join();
  if (!tried_once_) end_first_try(errors::cancelled("the refresh"));
  if (const auto waited = std::exchange(next_, nullptr)) waited->end(cancelled_reading());
}

// Does one thing after the other, so that lists are never read twice at a time. A slow server delays only itself.
Task<> Refresher::run() {
  want_refresh({});
  health_at_ = dependencies_.clock.now() + policy_.health_interval;
  while (!closing_) {
    const auto now = dependencies_.clock.now();
    const auto left_alone = left_alone_until();
    const auto is_due = [&](const std::optional<Clock::Monotonic>& at) {
      return at && std::max(*at, left_alone) <= now;
    };
    // A requested reading starts at once, even during a pause.
    if (next_ || (!paused_ && (is_due(refresh_at_) || is_due(poll_at_)))) {
      co_await read_lists();
      continue;
    }
    if (paused_) {
      boost::system::error_code ignored;
      alarm_.expires_at(Clock::Monotonic::max());
      co_await alarm_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      continue;
    }
    if (is_due(listen_at_)) {
      start_listening();
      continue;
    }
    if (is_due(health_at_)) {
      try {
        co_await check_health();
      } catch (const std::exception& fault) {
        if (!closing_) log_->note(log::Level::error, "was not checked: {}", fault.what());
      }
      continue;
    }
    Clock::Monotonic until = health_at_;
    if (refresh_at_) until = std::min(until, *refresh_at_);
    if (poll_at_) until = std::min(until, *poll_at_);
    if (listen_at_) until = std::min(until, *listen_at_);
    alarm_.expires_at(std::max(until, left_alone));
    boost::system::error_code ignored;
    co_await alarm_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

bool Refresher::polls() const {
  if (!keeps_lists() || policy_.ttl.count() > 0) return false;
  // Polling replaces announcements that are interrupted, have not begun, or cannot be listened to.
  return auto_refresh_ || (expects_announcements_ && !announcing_);
}

Watch Refresher::watch() const {
  if (expects_announcements_ && announcing_) return Watch::listening;
  if (!keeps_lists() || policy_.ttl.count() > 0) return Watch::on_use;
  return polls() ? Watch::polling : Watch::none;
}

void Refresher::set_auto_refresh(bool on) {
  asio::post(dependencies_.executor, [this, on] {
    auto_refresh_ = on;
    if (!polls()) poll_at_.reset();
    poll_instead();
  });
}

void Refresher::set_paused(bool paused) {
  asio::post(dependencies_.executor, [this, paused] {
    if (std::exchange(paused_, paused) == paused) return;
    health_at_ = dependencies_.clock.now() + policy_.health_interval;
    if (!paused) want_refresh({});
    alarm_.cancel();
  });
}

void Refresher::want_refresh(std::chrono::nanoseconds in) {
  const auto at = dependencies_.clock.now() + in;
  if (!refresh_at_ || at < *refresh_at_) refresh_at_ = at;
  alarm_.cancel();
}

std::chrono::milliseconds Refresher::pause_after(unsigned failures, const Error& why) {
  const std::chrono::milliseconds asked = why.retry_after();
  if (asked.count() > 0) left_alone_until_ = std::max(left_alone_until_, dependencies_.clock.now() + asked);
  return std::max(backoff(failures, policy_.first_retry, policy_.last_retry, dependencies_.chance), asked);
}

Clock::Monotonic Refresher::left_alone_until() const {
  return std::max(left_alone_until_, dependencies_.breaker.status().left_alone_until);
}

// Notifies the waiters however the reading ends, even by `close`.
Task<> Refresher::read_lists() {
  const auto round = next_ ? std::exchange(next_, nullptr) : std::make_shared<Round>(dependencies_.executor);
  under_way_ = round;
  refresh_at_.reset();
  poll_at_.reset();
  const auto began = dependencies_.clock.now();
  reading_.act(began);
  Result<Gathered> gathered;
  try {
    gathered = co_await discover();
  } catch (const std::exception& fault) {
    gathered = std::unexpected(errors::internal(fault.what()));
  }
  Reading reading{.at = dependencies_.clock.wall(),
                  .duration = std::chrono::duration_cast<std::chrono::milliseconds>(dependencies_.clock.now() - began)};
  if (closing_) {
    reading = cancelled_reading();
  } else {
    conclude(reading, std::move(gathered));
  }
  if (!tried_once_) end_first_try(reading.partial ? std::nullopt : reading.error);
  poll_instead();
  under_way_.reset();
  round->end(std::move(reading));
}

Task<Result<Gathered>> Refresher::discover() {
  connection_.reconsider();
  const auto before = connection_.facts();
  const auto opened = co_await connection_.open();
  if (!opened) co_return std::unexpected(opened.error());
  // What a connection has just negotiated is up to date.
  if (before == *opened && before->era() == mcp::Era::modern) {
    const auto asked = co_await ping(connection_);
    if (!asked && asked.error().kind() != ErrorKind::remote) co_return std::unexpected(asked.error());
  }
  note_facts(connection_.facts());
  co_await begin_listening();
  auto gathered = co_await dependencies_.read();
  note_facts(connection_.facts());
  co_return gathered;
}

// Schedules the next reading whatever goes wrong with this one.
void Refresher::conclude(Reading& reading, Result<Gathered> gathered) {
  if (!gathered) {
    reading.error = std::move(gathered.error());
    failed(*reading.error);
  } else {
    reading.change = std::move(gathered->change);
    reading.error = std::move(gathered->failure);
    reading.partial = reading.error.has_value();
    if (reading.partial) {
      failed_in_part(*reading.error);
    } else {
      succeeded(reading);
    }
  }
  try {
    if (dependencies_.on_read) dependencies_.on_read(reading);
  } catch (const std::exception& fault) {
    log::error("{}: what was read is not passed on: {}", dependencies_.name, fault.what());
    reading.error = errors::internal(fault.what());
    want_refresh(pause_after(1, *reading.error));
  }
}

void Refresher::succeeded(Reading& reading) {
  reached();
  fresh_until_ = dependencies_.clock.now() + policy_.ttl;
  if (std::exchange(partial_readings_, 0U) > 0) log_->info("all its lists can be read again");
  const std::scoped_lock lock(mutex_);
  health_.state = ServerState::connected;
  health_.last_refresh_at = reading.at;
  health_.last_error.reset();
  health_.consecutive_failures = 0;
  ++health_.refreshes;
}

// The server is there, and the lists that it gave are in use; the others are requested again.
void Refresher::failed_in_part(const Error& error) {
  reached();
  {
    const std::scoped_lock lock(mutex_);
    health_.state = ServerState::degraded;
    health_.last_error = error;
    health_.consecutive_failures = 0;
    ++health_.failed_refreshes;
  }
  const bool told = ++partial_readings_ > 1;
  log_->at(told ? log::Level::debug : log::Level::warning, "not all of its lists can be read: {}", error.message());
  const auto pause = pause_after(partial_readings_, error);
  fresh_until_ = dependencies_.clock.now() + std::max(pause, policy_.ttl);
  want_refresh(pause);
}

void Refresher::failed(Error error) {
  unsigned failures = 0;
  {
    const std::scoped_lock lock(mutex_);
    failures = ++health_.consecutive_failures;
    ++health_.failed_refreshes;
    health_.state = failures >= policy_.max_consecutive_failures ? ServerState::failed : ServerState::degraded;
    health_.last_error = error;
  }
  // Warns about the first failure and the one that changes the state to `failed`; the others are repetitions.
  const auto level =
      failures == 1 || failures == policy_.max_consecutive_failures ? log::Level::warning : log::Level::debug;
  log_->note(level, "cannot be read: {}", error.message());
  const auto pause = pause_after(failures, error);
  fresh_until_ = dependencies_.clock.now() + pause;
  want_refresh(pause);
}

Task<std::shared_ptr<Refresher::Round>> Refresher::join_round() {
  if (closing_) co_return nullptr;
  if (!next_) next_ = std::make_shared<Round>(dependencies_.executor);
  const auto round = next_;
  alarm_.cancel();
  co_await round->wait();
  co_return round;
}

Task<> Refresher::join_freshening() {
  if (!is_stale()) co_return;
  if (const auto round = under_way_) co_return co_await round->wait();
  co_await join_round();
}

Task<Reading> Refresher::refresh() {
  const auto round = co_await asio::co_spawn(dependencies_.executor, join_round(), asio::use_awaitable);
  if (round) co_return *round->reading;
  co_return cancelled_reading();
}

bool Refresher::is_stale() const {
  return policy_.ttl.count() > 0 && keeps_lists() && dependencies_.clock.now() >= fresh_until_.load();
}

Task<> Refresher::freshen() {
  if (is_stale()) co_await asio::co_spawn(dependencies_.executor, join_freshening(), asio::use_awaitable);
}

std::shared_ptr<const ServerFacts> Refresher::facts() const {
  const std::scoped_lock lock(mutex_);
  return facts_;
}

KnownServer Refresher::known() const {
  const std::scoped_lock lock(mutex_);
  return {facts_, old_sse_};
}

ServerHealth Refresher::health() const {
  const auto requests = dependencies_.breaker.status();
  const std::scoped_lock lock(mutex_);
  ServerHealth health = health_;
  health.circuit = requests.state;
  health.watch = watch();
  const bool closed = requests.state == CircuitBreaker::State::closed;
  if (!requests.failure || (closed && reached_at_.load() > requests.failed_at)) return health;
  if (!health.last_error) health.last_error = requests.failure;
  if (!closed) health.state = ServerState::failed;
  if (health.state == ServerState::connected) health.state = ServerState::degraded;
  return health;
}

std::string_view to_string(Watch watch) {
  switch (watch) {
    case Watch::listening: return "listening";
    case Watch::polling: return "polling";
    case Watch::on_use: return "on_use";
    case Watch::none: return "none";
    case Watch::elsewhere: return "elsewhere";
  }
  return "none";
}

std::string_view to_string(ServerState state) {
  switch (state) {
    case ServerState::closed: return "closed";
    case ServerState::connecting: return "connecting";
    case ServerState::connected: return "connected";
    case ServerState::degraded: return "degraded";
    case ServerState::failed: return "failed";
  }
  return "closed";
}

}  // namespace proteus::client
