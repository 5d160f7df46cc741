// What an upstream says by itself, and whether it is there at all.
#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "client/calls.hpp"
#include "providers/upstream.hpp"

namespace proteus::providers {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds kListenFirst{250};

}  // namespace

// What changes between the reading and the first announcement must not be missed: whoever is slow to agree to announce
// is read once more then.
Task<> Upstream::begin_listening() {
  if (std::exchange(asked_to_listen_, true)) co_return;
  struct Waiting {
    explicit Waiting(asio::io_context& io) : timer(io, kListenFirst) {}
    asio::steady_timer timer;
    bool settled = false;
    bool given_up = false;
  };
  auto waiting = std::make_shared<Waiting>(around_.io);
  const auto settle = [](Upstream& upstream, std::shared_ptr<Waiting> wait) -> Task<> {
    co_await upstream.keep_listening();
    wait->settled = true;
    wait->timer.cancel();
    if (wait->given_up && upstream.announcing_) upstream.want_refresh({});
  };
  asking_ = true;
  tasks_.spawn("listening", settle(*this, waiting));
  boost::system::error_code ignored;
  if (!waiting->settled) co_await waiting->timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  waiting->given_up = !waiting->settled;
}

// In the background: a server that is slow to agree, or never does, holds up nothing else.
void Upstream::start_listening() {
  listen_at_.reset();
  ask_again_ = true;
  if (!std::exchange(asking_, true)) tasks_.spawn("listening", keep_listening());
}

Task<> Upstream::keep_listening() {
  const std::shared_ptr<void> end(nullptr, [this](void*) { asking_ = false; });
  do {
    ask_again_ = false;
    co_await listen();
  } while (ask_again_ && !closing_);
}

Task<> Upstream::listen() {
  const auto known = facts();
  if (!known) co_return;
  mcp::SubscriptionFilter wanted;
  if (settings_.event_driven_refresh && !is_direct() && settings_.ttl.count() == 0) {
    wanted.tools = known->offers.tools.list_changed;
    wanted.prompts = known->offers.prompts.list_changed;
    wanted.resources = known->offers.resources.list_changed;
  }
  if (known->offers.subscribe && known->era() == mcp::Era::modern) {
    const std::scoped_lock lock(mutex_);
    wanted.uris.assign(followed_.begin(), followed_.end());
  }
  if (!wanted.tools && !wanted.prompts && !wanted.resources && wanted.uris.empty()) {
    asked_for_.clear();
    heard_of_.clear();
    announcing_ = false;
    if (std::exchange(listening_, false) || control_.is_listening()) control_.hush();
    co_return;
  }
  std::set<std::string> asked(wanted.uris.begin(), wanted.uris.end());
  listened(co_await ask_to_announce(std::move(wanted)));
  asked_for_ = std::move(asked);
  asked_.ring();
}

// Resources that it does not want to tell of, or so many of them, are no reason not to hear of its lists.
Task<Result<>> Upstream::ask_to_announce(mcp::SubscriptionFilter wanted) {
  const bool lists = wanted.tools || wanted.prompts || wanted.resources;
  auto agreed = co_await control_.listen(wanted);
  listen_error_ = agreed ? std::nullopt : std::optional(agreed.error());
  if (agreed) heard_of_ = {wanted.uris.begin(), wanted.uris.end()};
  if (agreed || closing_ || !lists || wanted.uris.empty() || !client::is_final(agreed.error())) co_return agreed;
  log::warning("upstream {} tells of no single resources: {}", settings_.name, agreed.error().message());
  wanted.uris.clear();
  auto lists_agreed = co_await control_.listen(std::move(wanted));
  if (lists_agreed) heard_of_.clear();
  co_return lists_agreed;
}

void Upstream::listened(const Result<>& agreed) {
  if (agreed) {
    // What changed while nothing was announced is read.
    if (std::exchange(listen_failures_, 0) > 0 && !is_direct()) want_refresh({});
    listening_ = announcing_ = true;
    return;
  }
  // What it agreed to before it still tells.
  const bool hears = control_.is_listening();
  const bool later = !client::is_final(agreed.error());
  listening_ = hears || later;
  announcing_ = announcing_ && hears;
  log::info("upstream {} announces no {}changes: {}", settings_.name, hears ? "further " : "",
            agreed.error().message());
  if (!later) return;
  listen_at_ = around_.clock.now() + client::backoff(++listen_failures_, around_.limits.first_retry,
                                                     around_.limits.last_retry, around_.chance);
  alarm_.cancel();
  poll_instead();
}

void Upstream::poll_instead() {
  if (!polls() || poll_at_) return;
  poll_at_ = around_.clock.now() + client::jittered(settings_.refresh_interval, around_.chance);
  alarm_.cancel();
}

void Upstream::note_facts(std::shared_ptr<const client::ServerFacts> facts) {
  const std::scoped_lock lock(mutex_);
  status_.version = facts->version;
  if (facts_ && facts_->era() != facts->era()) listen_at_ = around_.clock.now();
  modern_ = facts->era() == mcp::Era::modern;
  facts_ = std::move(facts);
}

// Apart from refresh: it reads no lists, unless what the server says of itself is other than before.
Task<> Upstream::check_health() {
  const auto before = facts();
  health_at_ = around_.clock.now() + client::jittered(settings_.health_interval, around_.chance);
  client::RequestOptions options;
  options.timeout = settings_.timeout;
  const auto alive = co_await client::ping(control_, std::move(options));
  if (!alive) {
    if (alive.error().kind() == ErrorKind::remote) co_return;
    RefreshResult ignored;
    log::info("upstream {} does not answer: {}", settings_.name, alive.error().message());
    const std::scoped_lock lock(mutex_);
    if (status_.state == UpstreamState::connected) status_.state = UpstreamState::degraded;
    status_.last_error = alive.error().message();
    ++status_.consecutive_failures;
    if (status_.consecutive_failures >= settings_.max_consecutive_failures) status_.state = UpstreamState::failed;
    health_at_ =
        around_.clock.now() +
        std::min(settings_.health_interval, client::backoff(status_.consecutive_failures, around_.limits.first_retry,
                                                            around_.limits.last_retry, around_.chance));
    co_return;
  }
  note_facts(control_.facts());
  breaker_.succeeded();
  bool recovered = false;
  {
    const std::scoped_lock lock(mutex_);
    recovered = status_.state == UpstreamState::degraded || status_.state == UpstreamState::failed;
    if (recovered && !refresh_at_) {
      status_.state = UpstreamState::connected;
      status_.consecutive_failures = 0;
      status_.last_error.clear();
    }
  }
  const auto now_known = facts();
  const bool other = before && now_known &&
                     (before->info != now_known->info || before->capabilities != now_known->capabilities ||
                      before->version != now_known->version);
  if (other) want_refresh({});
}

void Upstream::on_announcement(const client::Announcement& announcement) {
  switch (announcement.kind) {
    case client::Announcement::Kind::tools:
    case client::Announcement::Kind::prompts:
    case client::Announcement::Kind::resources: return want_refresh(debounced());
    case client::Announcement::Kind::resource:
      if (around_.on_resource_updated) around_.on_resource_updated(announcement.uri);
      return;
    case client::Announcement::Kind::interrupted:
    case client::Announcement::Kind::ended: announcing_ = false; return poll_instead();
    case client::Announcement::Kind::reopened:
      announcing_ = true;
      if (!is_direct()) want_refresh(around_.limits.debounce);
      return;
  }
}

// The first announcement is followed at once; one that comes soon after a refresh waits for more of its kind.
std::chrono::milliseconds Upstream::debounced() const {
  const auto due = read_at_ + around_.limits.debounce;
  const auto now = around_.clock.now();
  return due > now ? std::chrono::ceil<std::chrono::milliseconds>(due - now) : std::chrono::milliseconds(0);
}

void Upstream::follow(std::set<std::string> uris) {
  {
    const std::scoped_lock lock(mutex_);
    if (followed_ == uris) return;
    followed_ = std::move(uris);
  }
  asio::post(around_.io, [this] {
    if (asked_to_listen_ && !closing_) start_listening();
  });
}

Task<Result<>> Upstream::tells_of(std::string uri) {
  co_return co_await asio::co_spawn(around_.io, ask_within_time(std::move(uri)), asio::use_awaitable);
}

Task<Result<>> Upstream::ask_within_time(std::string uri) {
  client::Deadline deadline(around_.io.get_executor(), settings_.timeout, {});
  co_return co_await client::before(deadline, wait_until_asked(std::move(uri)), "subscriptions/listen");
}

Task<Result<>> Upstream::wait_until_asked(std::string uri) {
  while (!closing_ && !asked_for_.contains(uri))
    co_await asked_.wait();
  if (closing_) co_return std::unexpected(errors::cancelled("the subscription"));
  if (listen_error_ && !heard_of_.contains(uri)) co_return std::unexpected(*listen_error_);
  if (const Error* const why = control_.refused(uri)) co_return std::unexpected(*why);
  co_return Result<>{};
}

Task<> Upstream::announced() { co_await asio::co_spawn(around_.io, read_soon(), asio::use_awaitable); }

Task<> Upstream::read_soon() {
  if (closing_ || is_direct() || !settings_.event_driven_refresh || settings_.ttl.count() > 0) co_return;
  const auto asked = around_.clock.now();
  if (const auto wait = debounced(); wait.count() > 0) co_await client::sleep_for(wait);
  if (read_at_ < asked) co_await join_round();
}

}  // namespace proteus::providers
