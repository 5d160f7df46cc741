#include "gateway/connections/upstream_session.hpp"

#include <algorithm>

#include "base/log/log.hpp"
#include "gateway/connections/programs.hpp"
#include "gateway/connections/worker.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

constexpr std::chrono::seconds kTryAgain{5};

bool wants_nothing(const mcp::SubscriptionFilter& filter) {
  return !filter.tools && !filter.prompts && !filter.resources && filter.uris.empty();
}

bool same(const mcp::SubscriptionFilter& a, const mcp::SubscriptionFilter& b) {
  return a.tools == b.tools && a.prompts == b.prompts && a.resources == b.resources && a.uris == b.uris;
}

}  // namespace

UpstreamSession::UpstreamSession(Worker& worker, const ServedUpstream& upstream, std::chrono::milliseconds stream_wait,
                                 SessionObserver observer)
    : worker_(worker),
      instance_(upstream.instance),
      upstream_(upstream.upstream),
      runs_program_(std::holds_alternative<net::Command>(upstream->endpoint())),
      program_idle_(upstream->settings().program_idle),
      stream_wait_(stream_wait),
      observer_(std::move(observer)),
      used_(worker.now()),
      settling_(worker.io().get_executor()),
      telling_(worker.debounce()) {}

UpstreamSession::~UpstreamSession() { (void)observer_.lists->replace(instance_, shown_, nullptr); }

std::shared_ptr<UpstreamSession> UpstreamSession::make(Worker& worker, const ServedUpstream& upstream,
                                                       client::Options options, SessionObserver observer) {
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the constructor is private
  const std::shared_ptr<UpstreamSession> upstream_session(
      new UpstreamSession(worker, upstream, options.stream_wait, std::move(observer)));
  upstream_session->may_ask_ = options.handlers.any();
  options.hear_in_answers = true;
  options.admit_program = [&worker, instance = upstream.instance] { return worker.programs().take(instance); };
  options.on_announcement = [weak = upstream_session->weak_from_this()](const client::Announcement& announcement) {
    if (const auto self = weak.lock()) self->on_announcement(announcement);
  };
  options.on_unclaimed = [weak = upstream_session->weak_from_this()](const json::Message& notification) {
    const auto self = weak.lock();
    if (self && self->observer_.told) return self->observer_.told(notification);
    log::debug("a notification has no receiver: {}", log::printable(notification.method, 64));
  };
  // The status of a task goes to its caller, whatever stream it arrives on.
  options.on_notification = [weak = upstream_session->weak_from_this(),
                             name = upstream->settings().name](const json::Message& notification) {
    if (notification.method != mcp::to_string(mcp::Method::task_status)) return;
    if (const auto self = weak.lock(); self && self->observer_.task_told) self->observer_.task_told(name, notification);
  };
  if (upstream_session->observer_.agreed) {
    options.on_agreed = [weak = upstream_session->weak_from_this()](const client::ServerFacts& facts) {
      if (const auto self = weak.lock()) self->on_agreed(facts);
    };
  }
  options.on_session_lost = [weak = upstream_session->weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    for (const Kind kind : catalog::kKinds) {
      if (self->own_[kind]) self->changed({kind});
    }
  };
  upstream_session->connection_ = worker.connect(upstream, std::move(options));
  worker.keep(upstream_session);
  upstream_session->renew();
  return upstream_session;
}

Task<Result<client::Answer>> UpstreamSession::request(std::shared_ptr<UpstreamSession> self, mcp::Method method,
                                                      client::Params params, client::RequestOptions options,
                                                      LogWish logs) {
  if (!self->use()) co_await self->ready();
  const CallerConnection connection = self->connection_;
  if (logs == LogWish::all && !connection->log_level()) co_await connection->set_log_level(mcp::LogLevel::debug);
  auto answer = co_await connection->request(method, std::move(params), std::move(options));
  self->used_ = self->worker_.now();
  if (!answer && !connection->facts()) {
    // The server did not answer in the legacy era, but may do so in the modern one.
    if (const auto upstream = self->upstream_.lock()) upstream->forget_legacy_side();
  }
  co_return answer;
}

std::shared_ptr<client::PendingRequest> UpstreamSession::post(mcp::Method method, const client::Params& params,
                                                              client::RequestOptions& options, LogWish logs) {
  if (!use() || (logs == LogWish::all && !connection_->log_level())) return nullptr;
  return connection_->post(method, params, options, client::Stay::here);
}

bool UpstreamSession::use() {
  used_ = worker_.now();
  if (resting_) listen_anew();
  try_again_after(kTryAgain);
  return settled_ || waited_for_;
}

void UpstreamSession::listen_anew() {
  failure_.reset();
  wanted_ = {};
  renew();
}

void UpstreamSession::try_again_after(std::chrono::seconds time) {
  if (failure_ && worker_.now() - failed_at_ > time) listen_anew();
}

Task<Result<>> UpstreamSession::wait_until_settled() {
  while (!settled_)
    co_await settling_.wait();
  co_return Result<>{};
}

Task<> UpstreamSession::ready() {
  const auto self = shared_from_this();
  // If the connection cannot be opened, the request that follows fails with the reason.
  (void)co_await connection_->open();
  Deadline soon(worker_.io().get_executor(), stream_wait_, {});
  (void)co_await before(soon, wait_until_settled(), "listening");
  waited_for_ = true;
}

void UpstreamSession::notify(std::string notification, bool roots_changed) {
  if (retired_) return;
  roots_changed ? connection_->notify_roots_changed(std::move(notification))
                : connection_->notify(std::move(notification));
}

Task<> UpstreamSession::log_everything() {
  const auto self = shared_from_this();
  (void)co_await connection_->set_log_level(mcp::LogLevel::debug);
}

void UpstreamSession::renew() {
  if (retired_) return;
  const auto& facts = connection_->facts();
  if (facts && facts->offers.logging && !connection_->log_level() && observer_.logs() == LogWish::all) {
    worker_.run("setting a log level", log_everything());
  }
  mcp::SubscriptionFilter wanted = observer_.wanted().value_or(mcp::SubscriptionFilter{});
  std::erase_if(wanted.uris, [this](const auto& uri) { return !uris_.contains(uri); });
  const std::set<std::string_view> still(wanted.uris.begin(), wanted.uris.end());
  std::erase_if(uris_, [&](const auto& uri) { return !still.contains(uri); });
  resting_ = false;
  want(std::move(wanted));
}

void UpstreamSession::want(mcp::SubscriptionFilter wanted) {
  if (same(wanted, wanted_)) return;
  const bool begins = wants_nothing(wanted_);
  wanted_ = std::move(wanted);
  if (wants_nothing(wanted_)) {
    connection_->hush();
    failure_.reset();
    settled_ = true;
    settling_.ring();
    return;
  }
  // Anything may have changed since the caller last listened.
  if (begins && std::exchange(heard_, true))
    changed({Kind::tool, Kind::prompt, Kind::resource, Kind::resource_template});
  settled_ = waited_for_ = false;
  if (!listening_) worker_.run("listening for a caller", listen());
}

Task<> UpstreamSession::listen() {
  const auto self = shared_from_this();
  if (std::exchange(listening_, true)) co_return;
  const std::shared_ptr<void> end(nullptr, [this](void*) {
    listening_ = false;
    settled_ = true;
    settling_.ring();
  });
  for (;;) {
    const mcp::SubscriptionFilter asked = wanted_;
    if (wants_nothing(asked)) co_return connection_->hush();
    const auto agreed = co_await connection_->listen(asked);
    const bool of_some =
        std::ranges::any_of(asked.uris, [this](const auto& uri) { return connection_->refused(uri) != nullptr; });
    failure_.reset();
    if (!agreed && !of_some) {
      failure_ = agreed.error();
      failed_at_ = worker_.now();
    }
    if (same(asked, wanted_)) co_return;
  }
}

Task<std::vector<server::Service::Refused>> UpstreamSession::follow(std::vector<std::string> uris) {
  const auto self = shared_from_this();
  used_ = worker_.now();
  uris_.insert(uris.begin(), uris.end());
  if (failure_) wanted_ = {};
  renew();
  while (!settled_)
    co_await settling_.wait();
  std::vector<server::Service::Refused> refused;
  for (auto& uri : uris) {
    const Error* why = failure_ ? &*failure_ : connection_->refused(uri);
    if (why == nullptr) continue;
    uris_.erase(uri);
    refused.push_back({std::move(uri), *why});
  }
  co_return refused;
}

void UpstreamSession::rest_if_idle(Clock::Monotonic time) {
  if (used_ >= time || observer_.attached()) return;
  connection_->hush();
  wanted_ = {};
  resting_ = true;
}

bool UpstreamSession::holds_idle_program() const {
  return runs_program_ && connection_->is_open() && connection_->is_idle() && !observer_.attached();
}

Task<bool> UpstreamSession::end_idle_program() {
  const auto self = shared_from_this();
  if (!holds_idle_program()) co_return false;
  wanted_ = {};
  resting_ = true;
  own_ = {};
  show_nothing_of_its_own();
  co_return co_await connection_->rest();
}

void UpstreamSession::retire() {
  retired_ = true;
  want({});
  show_nothing_of_its_own();
}

void UpstreamSession::show_nothing_of_its_own() {
  (void)observer_.lists->replace(instance_, std::exchange(shown_, nullptr), nullptr);
}

void UpstreamSession::on_announcement(const client::Announcement& announcement) {
  if (retired_) return;
  switch (announcement.kind) {
    case client::Announcement::Kind::tools: return changed({Kind::tool});
    case client::Announcement::Kind::prompts: return changed({Kind::prompt});
    case client::Announcement::Kind::resources: return changed({Kind::resource, Kind::resource_template});
    case client::Announcement::Kind::resource: return observer_.resource_updated(announcement.uri);
    case client::Announcement::Kind::interrupted: return;
    case client::Announcement::Kind::reopened: return missed();
    case client::Announcement::Kind::ended:
      failure_ = errors::interrupted("the upstream announces nothing any more");
      failed_at_ = worker_.now();
      return;
  }
}

}  // namespace proteus::gateway
