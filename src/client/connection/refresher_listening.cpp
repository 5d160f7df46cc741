// Announcements from the server, and checks whether it answers.
#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"
#include "client/connection/calls.hpp"
#include "client/connection/refresher.hpp"

namespace proteus::client {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds kListenFirst{250};

}  // namespace

// Listens before the first reading, so that no change in between is missed. If the server agrees too late for that, its
// lists are read again when it agrees.
Task<> Refresher::begin_listening() {
  if (std::exchange(asked_to_listen_, true)) co_return;
  struct Waiting {
    explicit Waiting(const Executor& executor) : timer(executor, kListenFirst) {}
    asio::steady_timer timer;
    bool settled = false;
    bool given_up = false;
  };
  auto waiting = std::make_shared<Waiting>(dependencies_.executor);
  const auto settle = [](Refresher& refresher, std::shared_ptr<Waiting> wait) -> Task<> {
    co_await refresher.keep_listening();
    wait->settled = true;
    wait->timer.cancel();
    if (wait->given_up && refresher.announcing_) refresher.missed({});
  };
  asking_ = true;
  tasks_.spawn("listening", settle(*this, waiting));
  boost::system::error_code ignored;
  if (!waiting->settled) co_await waiting->timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  waiting->given_up = !waiting->settled;
}

// Listens in the background, so that a server that agrees late or never delays nothing else.
void Refresher::start_listening() {
  listen_at_.reset();
  ask_again_ = true;
  if (!std::exchange(asking_, true)) tasks_.spawn("listening", keep_listening());
}

Task<> Refresher::keep_listening() {
  const std::shared_ptr<void> end(nullptr, [this](void*) { asking_ = false; });
  do {
    ask_again_ = false;
    co_await listen();
  } while (ask_again_ && !closing_);
}

Task<> Refresher::listen() {
  const auto known = facts();
  if (!known) co_return;
  mcp::SubscriptionFilter wanted;
  const bool for_us = policy_.event_driven_refresh && policy_.ttl.count() == 0;
  if (keeps_lists() ? for_us : known->era() == mcp::Era::modern) {
    wanted.tools = known->offers.tools.list_changed;
    wanted.prompts = known->offers.prompts.list_changed;
    wanted.resources = known->offers.resources.list_changed;
  }
  expects_announcements_ = wanted.tools || wanted.prompts || wanted.resources;
  if (known->offers.subscribe && known->era() == mcp::Era::modern) {
    const std::scoped_lock lock(mutex_);
    wanted.uris.assign(followed_.begin(), followed_.end());
  }
  if (!wanted.tools && !wanted.prompts && !wanted.resources && wanted.uris.empty()) {
    asked_for_.clear();
    heard_of_.clear();
    announcing_ = false;
    if (std::exchange(listening_, false) || connection_.is_listening()) connection_.hush();
    co_return;
  }
  std::set<std::string> asked(wanted.uris.begin(), wanted.uris.end());
  listened(co_await ask_to_announce(std::move(wanted)));
  asked_for_ = std::move(asked);
  asked_.ring();
}

// If the server refuses to announce updates of these resources, listens to its lists only.
Task<Result<>> Refresher::ask_to_announce(mcp::SubscriptionFilter wanted) {
  const bool lists = wanted.tools || wanted.prompts || wanted.resources;
  auto agreed = co_await connection_.listen(wanted);
  listen_error_ = agreed ? std::nullopt : std::optional(agreed.error());
  if (agreed) heard_of_ = {wanted.uris.begin(), wanted.uris.end()};
  if (agreed || closing_ || !lists || wanted.uris.empty() || !is_final(agreed.error())) co_return agreed;
  log_->note(log::Level::warning, "tells of no single resources: {}", agreed.error().message());
  wanted.uris.clear();
  auto lists_agreed = co_await connection_.listen(std::move(wanted));
  if (lists_agreed) heard_of_.clear();
  co_return lists_agreed;
}

void Refresher::listened(const Result<>& agreed) {
  if (agreed) {
    if (std::exchange(listen_failures_, 0) > 0) missed({});
    listening_ = announcing_ = true;
    refused_to_listen_ = false;
    return;
  }
  // The server may still announce what it agreed to before.
  const bool hears = connection_.is_listening();
  const bool later = !is_final(agreed.error());
  listening_ = hears || later;
  if (!hears) announcing_ = false;
  // Warns the operator, who may rely on announcements.
  const bool told = later || hears || !expects_announcements_ || std::exchange(refused_to_listen_, true);
  log_->note(told ? log::Level::info : log::Level::warning, "announces no {}changes: {}{}", hears ? "further " : "",
             agreed.error().message(), polls() ? "; its lists are read every refresh_interval instead" : "");
  if (later) {
    listen_at_ = dependencies_.clock.now() + pause_after(++listen_failures_, agreed.error());
    alarm_.cancel();
  }
  poll_instead();
}

void Refresher::poll_instead() {
  if (!polls() || poll_at_) return;
  poll_at_ = dependencies_.clock.now() + jittered(policy_.refresh_interval, dependencies_.chance);
  alarm_.cancel();
}

void Refresher::note_facts(std::shared_ptr<const ServerFacts> facts) {
  const std::scoped_lock lock(mutex_);
  const bool offers_other = facts_ && (facts_->era() != facts->era() || facts_->capabilities != facts->capabilities);
  if (offers_other) listen_at_ = dependencies_.clock.now();
  modern_ = facts->era() == mcp::Era::modern;
  facts_ = std::move(facts);
  old_sse_ = connection_.known().old_sse;
}

void Refresher::agreed() {
  const auto known = facts();
  if (!known || known->era() == connection_.facts()->era()) return;
  note_facts(connection_.facts());
  if (!under_way_) want_refresh({});
}

void Refresher::learn(std::shared_ptr<const ServerFacts> facts) {
  const std::scoped_lock lock(mutex_);
  modern_ = facts->era() == mcp::Era::modern;
  facts_ = std::move(facts);
  health_.state = ServerState::connected;
}

void Refresher::look_again(mcp::Era era) {
  connection_.reconsider_unless(era);
  listen_at_ = dependencies_.clock.now();
  want_refresh({});
}

// Reads no lists, unless the server's facts have changed because the connection was negotiated again.
Task<> Refresher::check_health() {
  const auto before = facts();
  health_at_ = dependencies_.clock.now() + jittered(policy_.health_interval, dependencies_.chance);
  const auto alive = co_await ping(connection_);
  if (!alive) {
    if (alive.error().kind() == ErrorKind::remote) co_return;
    const std::scoped_lock lock(mutex_);
    const unsigned failures = ++health_.consecutive_failures;
    log_->note(failures == 1 ? log::Level::warning : log::Level::debug, "does not answer: {}", alive.error().message());
    if (health_.state == ServerState::connected) health_.state = ServerState::degraded;
    if (failures >= policy_.max_consecutive_failures) health_.state = ServerState::failed;
    health_.last_error = alive.error();
    health_at_ = dependencies_.clock.now() + std::min(policy_.health_interval, pause_after(failures, alive.error()));
    co_return;
  }
  note_facts(connection_.facts());
  reached();
  {
    const std::scoped_lock lock(mutex_);
    const bool recovered = health_.state == ServerState::degraded || health_.state == ServerState::failed;
    if (recovered && !refresh_at_) {
      log_->note(log::Level::info, "is back");
      health_.state = ServerState::connected;
      health_.consecutive_failures = 0;
      health_.last_error.reset();
    }
  }
  const auto now_known = facts();
  if (before && now_known && !same(*before, *now_known)) want_refresh({});
}

// Closes the circuit if requests failed because the server could not be reached, or broke off or timed out while
// readings failed, too. After other failures, only a request can prove that requests work again.
void Refresher::reached() {
  reached_at_ = dependencies_.clock.now();
  const auto failure = dependencies_.breaker.status().failure;
  if (!failure) return;
  const bool broke = failure->kind() == ErrorKind::interrupted || failure->kind() == ErrorKind::timeout;
  const bool was_gone = broke && health().consecutive_failures > 0;
  if (was_gone || failure->kind() == ErrorKind::unreachable) dependencies_.breaker.succeeded();
}

void Refresher::on_announcement(const Announcement& announcement) {
  switch (announcement.kind) {
    case Announcement::Kind::tools: return lists_announced({catalog::Kind::tool});
    case Announcement::Kind::prompts: return lists_announced({catalog::Kind::prompt});
    case Announcement::Kind::resources:
      return lists_announced({catalog::Kind::resource, catalog::Kind::resource_template});
    case Announcement::Kind::resource:
      if (dependencies_.on_resource_updated) dependencies_.on_resource_updated(announcement.uri);
      return;
    case Announcement::Kind::interrupted:
    case Announcement::Kind::ended: announcing_ = false; return poll_instead();
    case Announcement::Kind::reopened: announcing_ = true; return missed(reading_.window());
  }
}

void Refresher::lists_announced(catalog::KindSet kinds) {
  {
    const std::scoped_lock lock(mutex_);
    ++health_.announcements;
  }
  want_refresh(reading_.wait(dependencies_.clock.now()));
  if (!keeps_lists() && dependencies_.on_lists_changed) dependencies_.on_lists_changed(kinds);
}

void Refresher::missed(std::chrono::milliseconds wait) {
  if (keeps_lists()) return want_refresh(wait);
  const auto known = facts();
  catalog::KindSet kinds;
  for (const catalog::Kind kind : catalog::kKinds) {
    if (known && mcp::offers(known->offers, catalog::info(kind).list_method)) kinds.add(kind);
  }
  if (dependencies_.on_lists_changed) dependencies_.on_lists_changed(kinds);
}

void Refresher::follow(std::set<std::string> uris) {
  {
    const std::scoped_lock lock(mutex_);
    if (followed_ == uris) return;
    followed_ = std::move(uris);
  }
  asio::post(dependencies_.executor, [this] {
    if (asked_to_listen_ && !closing_) start_listening();
  });
}

Task<Result<>> Refresher::tells_of(std::string uri) {
  co_return co_await asio::co_spawn(dependencies_.executor, ask_within_time(std::move(uri)), asio::use_awaitable);
}

Task<Result<>> Refresher::ask_within_time(std::string uri) {
  Deadline deadline(dependencies_.executor, timeout_, {});
  co_return co_await before(deadline, wait_until_asked(std::move(uri)), "subscriptions/listen");
}

Task<Result<>> Refresher::wait_until_asked(std::string uri) {
  while (!closing_ && !asked_for_.contains(uri))
    co_await asked_.wait();
  if (closing_) co_return std::unexpected(errors::cancelled("the subscription"));
  if (listen_error_ && !heard_of_.contains(uri)) co_return std::unexpected(*listen_error_);
  if (const Error* const why = connection_.refused(uri)) co_return std::unexpected(*why);
  co_return Result<>{};
}

Task<> Refresher::announced() { co_await asio::co_spawn(dependencies_.executor, read_soon(), asio::use_awaitable); }

Task<> Refresher::read_soon() {
  if (closing_ || !keeps_lists() || !policy_.event_driven_refresh || policy_.ttl.count() > 0) co_return;
  const auto asked = dependencies_.clock.now();
  if (const auto wait = reading_.wait(asked); wait.count() > 0) co_await sleep_for(wait);
  if (reading_.acted() < asked) co_await join_round();
}

}  // namespace proteus::client
