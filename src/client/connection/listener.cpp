#include "client/connection/listener.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "client/connection/backoff.hpp"
#include "client/connection/connection.hpp"
#include "client/message/compose.hpp"
#include "json/text.hpp"

namespace proteus::client {

struct Listener::Round {
  Round(const Executor& executor, mcp::SubscriptionFilter filter) : wanted(std::move(filter)), settling(executor) {}

  void stop() {
    stopped = true;
    if (wait != nullptr) wait->expire();
  }

  mcp::SubscriptionFilter wanted;
  std::uint64_t revision = 1;  // incremented for each new `wanted`
  bool quiet = false;          // the stream is open, but nothing is wanted
  bool waited_for = false;     // `wait_for_stream` has waited once

  bool stopped = false;
  Deadline* wait = nullptr;  // deadline of the current wait

  bool settled = false;
  std::optional<Error> failure;
  Bell settling;
  bool subscribing = false;
  bool refused = false;  // `failure` concerns single resources only
  bool agreed() const { return settled && (!failure || refused); }

  bool ever_open = false;
  bool stream_open = false;  // for legacy servers
  bool moved = false;        // the stream belongs to a session that was replaced
  bool moving = false;       // and is not open in the new session yet
  bool open_since_pause = false;
  std::chrono::steady_clock::time_point opened_at;
  RequestId stream = kNoRequest;  // for modern servers: the request that carries the stream
};

bool is_final(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::unsupported:
    case ErrorKind::unauthenticated:
    case ErrorKind::forbidden:
    case ErrorKind::invalid:
    case ErrorKind::cancelled: return true;
    case ErrorKind::remote: return error.rpc_code() == -32601 || error.rpc_code() == -32602;
    default: return false;
  }
}

Task<Result<>> Listener::listen(mcp::SubscriptionFilter wanted) {
  std::shared_ptr<Round> round = round_;
  const auto& negotiated = connection_.link_.current();
  if (round && !round->stopped && negotiated && negotiated->era() == mcp::Era::legacy) {
    // One stream carries everything that may be wanted, and many servers allow only one.
    for (const auto& uri : wanted.uris)
      refused_.erase(uri);
    round->wanted = std::move(wanted);
    ++round->revision;
    round->quiet = round->settled = round->refused = false;
    round->failure.reset();
    if (round->stream_open) connection_.tasks_.spawn("subscribing", subscribe(round));
  } else {
    refused_.clear();
    const bool open = round && !round->stopped && round->stream != kNoRequest;
    round = std::make_shared<Round>(connection_.executor_, std::move(wanted));
    if (open) {
      start_beside(round);
    } else {
      start(round);
    }
  }
  Deadline deadline(connection_.executor_, connection_.options_.timeout, {});
  auto settled = co_await before(deadline, wait_until_settled(round), "listening");
  // A refused resource does not prevent listening to the others.
  const bool agreed = settled || round->refused;
  if (!agreed) round->stop();
  end_beside(round, agreed);
  co_return settled;
}

bool Listener::keep_stream() {
  if (!round_ || round_->stopped) {
    const auto& negotiated = connection_.link_.current();
    if (negotiated && negotiated->generation == streamless_in_) return false;
    auto round = std::make_shared<Round>(connection_.executor_, mcp::SubscriptionFilter{});
    round->quiet = true;
    start(std::move(round));
  }
  return !round_->stream_open && (!round_->settled || round_->moving) && !round_->waited_for;
}

Task<> Listener::wait_for_stream() {
  const std::shared_ptr<Round> round = round_;
  Deadline deadline(connection_.executor_, connection_.options_.stream_wait, {});
  (void)co_await before(deadline, wait_until_settled(round), "the server's stream");
  round->waited_for = true;
}

void Listener::hush() {
  if (const auto previous = std::exchange(previous_, nullptr)) previous->stop();
  if (!round_ || round_->stopped) return;
  const bool again = round_->quiet && connection_.requests_.size() == 0;
  if (again || round_->stream != kNoRequest) return stop();
  round_->quiet = true;
  round_->wanted = {};
  ++round_->revision;
}

bool Listener::is_listening() const { return round_ && !round_->stopped && !round_->quiet && round_->agreed(); }

void Listener::move() {
  if (!round_ || round_->stopped || !round_->stream_open || round_->wait == nullptr) return;
  round_->moved = round_->moving = true;
  round_->stream_open = round_->waited_for = false;
  round_->wait->expire();
}

const Error* Listener::refused(const std::string& uri) const {
  const auto found = refused_.find(uri);
  return found == refused_.end() ? nullptr : &found->second;
}

void Listener::start(std::shared_ptr<Round> round) {
  stop();
  round_ = round;
  connection_.tasks_.spawn("listening", run(std::move(round)));
}

void Listener::start_beside(std::shared_ptr<Round> round) {
  if (previous_ && !previous_->stopped) {
    round_->stop();  // the server has not agreed to it
    round_ = round;
  } else {
    previous_ = std::exchange(round_, round);
  }
  connection_.tasks_.spawn("listening", run(std::move(round)));
}

void Listener::end_beside(const std::shared_ptr<Round>& round, bool agreed) {
  if (round != round_ || !previous_) return;
  const auto previous = std::exchange(previous_, nullptr);
  if (agreed || previous->stopped) return previous->stop();
  round_ = previous;
}

void Listener::stop() {
  if (round_) round_->stop();
  if (const auto previous = std::exchange(previous_, nullptr)) previous->stop();
}

Task<Result<>> Listener::wait_until_settled(std::shared_ptr<Round> round) {
  while (!round->settled || round->moving)
    co_await round->settling.wait();
  if (round->failure) co_return std::unexpected(*round->failure);
  co_return Result<>{};
}

void Listener::settle(Round& round, std::optional<Error> failure) {
  round.moving = false;
  round.settling.ring();
  if (!std::exchange(round.settled, true)) round.failure = std::move(failure);
}

void Listener::opened(Round& round, std::optional<Error> refusal) {
  if (round.stopped) return;
  round.open_since_pause = round.ever_open = true;
  round.opened_at = std::chrono::steady_clock::now();
  const bool again = round.agreed();
  if (!round.settled) round.refused = refusal.has_value();
  settle(round, std::move(refusal));
  if (again && !round.quiet) announce(Announcement::Kind::reopened);
}

void Listener::announce(Announcement::Kind kind, std::string uri) const {
  if (const auto& tell = connection_.options_.on_announcement) tell({.kind = kind, .uri = std::move(uri)});
}

Task<> Listener::run(std::shared_ptr<Round> round) {
  GrowingDelay after_streams(connection_.options_.reconnect_delay, connection_.options_.max_reconnect_delay);
  GrowingDelay after_failures = after_streams;
  while (!round->stopped) {
    round->open_since_pause = false;
    auto ended = co_await open_stream(round);
    if (round->stopped) break;
    const bool moved = std::exchange(round->moved, false);
    if (moved || ended) ended = std::unexpected(errors::interrupted(moved ? "its session ended" : "it has ended"));
    const Error& error = ended.error();
    const auto& negotiated = connection_.link_.current();
    if (negotiated && negotiated->era() == mcp::Era::legacy && is_final(error)) {
      streamless_in_ = negotiated->generation;
      if (!round->quiet && connection_.options_.hear_in_answers && error.kind() == ErrorKind::unsupported) {
        co_await hear_in_answers(round);
        if (std::exchange(round->moved, false)) continue;
        break;
      }
    }
    if (is_final(error) || (!round->ever_open && !round->quiet && !moved)) {
      const bool agreed = round->agreed();
      settle(*round, error);
      if (!agreed || round->quiet) break;
      connection_.options_.log->warning("no changes are announced any more: {}", error.message());
      announce(Announcement::Kind::ended);
      break;
    }
    connection_.options_.log->debug("a stream of announcements ended: {}", error.message());
    if (round->open_since_pause) {
      after_failures.restart();
      // Each reopening makes the owner read all lists, so a stream that never lasts is opened less and less often.
      if (std::chrono::steady_clock::now() - round->opened_at > after_streams.next()) after_streams.restart();
      if (!round->quiet) announce(Announcement::Kind::interrupted);
    }
    if (moved) continue;
    const auto delay = round->open_since_pause ? after_streams.take() : after_failures.take();
    Deadline pause(connection_.executor_, std::max<std::chrono::milliseconds>(delay, error.retry_after()), {});
    const Noted noted(round->wait, pause);
    co_await pause.wait();
  }
  round->stopped = true;
  settle(*round, errors::cancelled("listening"));
}

Task<Result<>> Listener::open_stream(std::shared_ptr<Round> round) {
  auto negotiated = co_await connection_.link_.establish();
  if (!negotiated) co_return std::unexpected(std::move(negotiated.error()));
  connection_.note(*negotiated);
  if (round->stopped) co_return Result<>{};
  if (negotiated->era() == mcp::Era::modern) co_return co_await open_modern(round, std::move(*negotiated));
  co_return co_await open_legacy(round, std::move(*negotiated));
}

Task<Result<>> Listener::open_modern(std::shared_ptr<Round> round, Negotiated negotiated) {
  if (round->quiet) co_return std::unexpected(errors::unsupported("a modern server asks nothing by itself"));
  Params params;
  params.members.add(fmt::format(R"("notifications":{})", mcp::write_subscription_filter(round->wanted)));
  const RequestOptions options;
  RequestFrame frame = connection_.frame(negotiated, mcp::Method::listen, options);
  Composed composed(frame, params);
  if (negotiated.transport->has_headers()) composed.add_standard_headers({});
  // Limits the wait for the acknowledgement, which lifts the deadline.
  Deadline deadline(connection_.executor_, connection_.options_.timeout, {});
  const Noted noted(round->wait, deadline);
  round->stream = frame.id;
  try {
    auto reply = co_await before(deadline, negotiated.transport->exchange(composed.outgoing()), "subscriptions/listen");
    round->stream = kNoRequest;
    if (!reply) {
      if (reply.error().kind() == ErrorKind::timeout) connection_.cancel_at_server(negotiated, frame.id, "");
      co_return std::unexpected(std::move(reply.error()));
    }
    if (!reply->message || reply->message->message().kind != json::MessageKind::result) {
      if (contradicts(*reply, mcp::Era::modern)) connection_.link_.era_doubtful(negotiated.generation);
      co_return std::unexpected(reply_error(*reply));
    }
    co_return Result<>{};
  } catch (...) {
    connection_.cancel_at_server(negotiated, frame.id, "");
    throw;
  }
}

Task<Result<>> Listener::open_legacy(std::shared_ptr<Round> round, Negotiated negotiated) {
  Deadline deadline = Deadline::never(connection_.executor_);
  const Noted noted(round->wait, deadline);
  auto on_open = [this, round] {
    round->stream_open = true;
    connection_.tasks_.spawn("subscribing", subscribe(round));
  };
  auto ended = co_await before(deadline, negotiated.transport->listen(std::move(on_open)), "listening");
  round->stream_open = false;
  if (!ended && ended.error().kind() == ErrorKind::not_found && negotiated.transport->has_session())
    connection_.forget_session(negotiated);
  co_return ended;
}

// Listens without a stream: announcements arrive with the answers to requests, or not at all.
Task<> Listener::hear_in_answers(std::shared_ptr<Round> round) {
  Deadline until_stopped = Deadline::never(connection_.executor_);
  const Noted noted(round->wait, until_stopped);
  round->stream_open = true;
  connection_.tasks_.spawn("subscribing", subscribe(round));
  co_await until_stopped.wait();
  round->stream_open = false;
}

Listener::Subscriptions Listener::plan_subscriptions(const std::vector<std::string>& wanted) const {
  const std::set<std::string_view> all(wanted.begin(), wanted.end());
  Subscriptions plan;
  for (const auto& uri : subscribed_) {
    if (!all.contains(uri)) plan.emplace_back(mcp::Method::resources_unsubscribe, uri);
  }
  for (const auto uri : all) {
    if (!subscribed_.contains(uri) && !refused_.contains(uri)) plan.emplace_back(mcp::Method::resources_subscribe, uri);
  }
  return plan;
}

// Runs only while the stream is open: an update that is announced before would be lost. What is wanted may change
// meanwhile.
Task<> Listener::subscribe(std::shared_ptr<Round> round) {
  if (std::exchange(round->subscribing, true)) co_return;
  const std::shared_ptr<void> end(nullptr, [round](void*) { round->subscribing = false; });
  // Made once for each revision of what is wanted, not once for each resource.
  Subscriptions plan;
  std::uint64_t planned = 0;
  while (!round->stopped && round->stream_open) {
    const auto& negotiated = connection_.link_.current();
    if (!negotiated) co_return;
    if (subscribed_in_ != negotiated->generation) {
      subscribed_in_ = negotiated->generation;
      subscribed_.clear();
      refused_.clear();
      planned = 0;
    }
    if (std::exchange(planned, round->revision) != round->revision) plan = plan_subscriptions(round->wanted.uris);
    if (plan.empty()) break;
    auto [method, uri] = std::move(plan.front());
    plan.pop_front();
    co_await subscribe_one(method, std::move(uri));
  }
  if (!round->stream_open) co_return;
  const auto is_refused = [this](const std::string& uri) { return refused(uri) != nullptr; };
  const auto first = std::ranges::find_if(round->wanted.uris, is_refused);
  opened(*round, first == round->wanted.uris.end() ? std::nullopt : std::optional(*refused(*first)));
}

Task<> Listener::subscribe_one(mcp::Method method, std::string uri) {
  Params params;
  params.members.add(fmt::format(R"("uri":{})", json::quote(uri)));
  params.name = uri;
  if (method == mcp::Method::resources_unsubscribe) subscribed_.erase(uri);
  const auto answer = co_await connection_.request(method, std::move(params), {});
  if (method == mcp::Method::resources_unsubscribe) co_return;
  if (answer) {
    subscribed_.insert(std::move(uri));
    co_return;
  }
  connection_.options_.log->warning("updates of {} are not announced: {}", log::printable(uri),
                                    answer.error().message());
  refused_.insert_or_assign(std::move(uri), answer.error());
}

Listener::Round* Listener::heard_in(const json::Message& message, RequestId during) const {
  const auto tag = json::as_int64(message.meta.value(mcp::meta::kSubscriptionId));
  const RequestId stream = tag ? *tag : during;
  for (Round* const round : {previous_.get(), round_.get()}) {
    if (round == nullptr || round->stopped || round->quiet) continue;
    if (round->stream == kNoRequest ? round == round_.get() : round->stream == stream) return round;
  }
  return nullptr;
}

void Listener::on_notification(const json::Message& message, mcp::Method method, RequestId during) {
  Round* const heard = heard_in(message, during);
  if (heard == nullptr) return;
  Round& round = *heard;
  if (method == mcp::Method::subscription_acknowledged) {
    if (round.stream == kNoRequest || round.wait == nullptr) return;
    round.wait->lift();
    if (const auto agreed = mcp::parse_subscription_filter(message.body.value("notifications")); agreed) {
      if ((round.wanted.tools && !agreed->tools) || (round.wanted.prompts && !agreed->prompts) ||
          (round.wanted.resources && !agreed->resources) || agreed->uris.size() < round.wanted.uris.size())
        connection_.options_.log->debug("the server announces less than was asked for: {}",
                                        log::printable(message.body.value("notifications")));
      const std::set<std::string_view> told_of(agreed->uris.begin(), agreed->uris.end());
      for (const auto& uri : round.wanted.uris) {
        if (told_of.contains(uri)) continue;
        refused_.insert_or_assign(uri, errors::unsupported("the server does not tell of updates of this resource"));
      }
    }
    return opened(round, std::nullopt);
  }
  switch (method) {
    case mcp::Method::tools_changed:
      if (round.wanted.tools) announce(Announcement::Kind::tools);
      break;
    case mcp::Method::prompts_changed:
      if (round.wanted.prompts) announce(Announcement::Kind::prompts);
      break;
    case mcp::Method::resources_changed:
      if (round.wanted.resources) announce(Announcement::Kind::resources);
      break;
    case mcp::Method::resource_updated:
      if (auto uri = json::decode_string(message.body.value("uri")); uri && !round.wanted.uris.empty())
        announce(Announcement::Kind::resource, std::move(*uri));
      break;
    default: break;
  }
}

}  // namespace proteus::client
