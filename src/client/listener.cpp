#include "client/listener.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "client/compose.hpp"
#include "client/connection.hpp"
#include "json/text.hpp"

namespace proteus::client {

struct Listener::Round {
  Round(const Executor& executor, mcp::SubscriptionFilter filter) : wanted(std::move(filter)), settling(executor) {}

  void stop() {
    stopped = true;
    if (wait != nullptr) wait->expire();
  }

  mcp::SubscriptionFilter wanted;
  bool quiet = false;  // nobody waits for its success

  bool stopped = false;
  Deadline* wait = nullptr;  // of what it waits for now

  bool settled = false;
  std::optional<Error> failure;
  Bell settling;

  bool ever_open = false;
  bool stream_open = false;  // of a legacy server
  bool open_since_pause = false;
  RequestId stream = kNoRequest;  // of a modern server
};

namespace {

// There is nothing to hope for from another attempt.
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

}  // namespace

Task<Result<>> Listener::listen(mcp::SubscriptionFilter wanted) {
  std::shared_ptr<Round> round = round_;
  const auto& footing = connection_.link_.current();
  if (round && !round->stopped && footing && footing->era() == mcp::Era::legacy) {
    // The stream is the same whatever is wanted, and many servers allow only one.
    round->wanted = std::move(wanted);
    round->quiet = round->settled = false;
    round->failure.reset();
    if (round->stream_open) connection_.tasks_.spawn("subscribing", subscribe(round));
  } else {
    round = std::make_shared<Round>(connection_.executor_, std::move(wanted));
    start(round);
  }
  Deadline deadline(connection_.executor_, connection_.options_.timeout, {});
  auto settled = co_await before(deadline, wait_until_settled(round), "listening");
  if (!settled) round->stop();
  co_return settled;
}

void Listener::keep_stream() {
  if (round_ && !round_->stopped) return;
  auto round = std::make_shared<Round>(connection_.executor_, mcp::SubscriptionFilter{});
  round->quiet = true;
  start(std::move(round));
}

void Listener::start(std::shared_ptr<Round> round) {
  stop();
  round_ = round;
  connection_.tasks_.spawn("listening", run(std::move(round)));
}

void Listener::stop() {
  if (round_) round_->stop();
}

Task<Result<>> Listener::wait_until_settled(std::shared_ptr<Round> round) {
  while (!round->settled)
    co_await round->settling.wait();
  if (round->failure) co_return std::unexpected(*round->failure);
  co_return Result<>{};
}

void Listener::settle(Round& round, std::optional<Error> failure) {
  if (round.settled) return;
  round.settled = true;
  round.failure = std::move(failure);
  round.settling.ring();
}

void Listener::opened(Round& round) {
  if (round.stopped) return;
  round.open_since_pause = round.ever_open = true;
  const bool again = round.settled && !round.failure;
  settle(round, std::nullopt);
  if (again && !round.quiet && connection_.options_.on_announcement)
    connection_.options_.on_announcement({.kind = Announcement::Kind::reopened, .uri = {}});
}

Task<> Listener::run(std::shared_ptr<Round> round) {
  auto delay = connection_.options_.reconnect_delay;
  while (!round->stopped) {
    round->open_since_pause = false;
    const auto ended = co_await open_stream(round);
    if (round->stopped) break;
    const Error error = ended ? errors::interrupted("the server ended the stream") : ended.error();
    if (is_final(error) || (!round->ever_open && !round->quiet)) {
      if (!round->quiet && round->settled) log::warning("no changes are announced any more: {}", error.message());
      settle(*round, error);
      break;
    }
    log::debug("a stream of announcements ended: {}", error.message());
    if (round->open_since_pause) {
      delay = connection_.options_.reconnect_delay;
      if (!round->quiet && connection_.options_.on_announcement)
        connection_.options_.on_announcement({.kind = Announcement::Kind::interrupted, .uri = {}});
    }
    Deadline pause(connection_.executor_, delay, {});
    const Noted noted(round->wait, pause);
    co_await pause.wait();
    delay = std::min(2 * delay, connection_.options_.max_reconnect_delay);
  }
  round->stopped = true;
  settle(*round, errors::cancelled("listening"));
}

Task<Result<>> Listener::open_stream(std::shared_ptr<Round> round) {
  auto footing = co_await connection_.link_.establish();
  if (!footing) co_return std::unexpected(std::move(footing.error()));
  connection_.note(*footing);
  if (round->stopped) co_return Result<>{};
  if (footing->era() == mcp::Era::modern) co_return co_await open_modern(round, std::move(*footing));
  co_return co_await open_legacy(round, std::move(*footing));
}

Task<Result<>> Listener::open_modern(std::shared_ptr<Round> round, Footing footing) {
  if (round->quiet) co_return std::unexpected(errors::unsupported("a modern server asks nothing by itself"));
  Params params;
  params.members.add(fmt::format(R"("notifications":{})", mcp::write_subscription_filter(round->wanted)));
  const RequestOptions options;
  RequestFrame frame = connection_.frame(footing, mcp::Method::listen, options);
  Composed composed(frame, params);
  if (footing.transport->has_headers()) composed.add_standard_headers({});
  // Until the acknowledgement, which lifts it.
  Deadline deadline(connection_.executor_, connection_.options_.timeout, {});
  const Noted noted(round->wait, deadline);
  round->stream = frame.id;
  try {
    auto reply = co_await before(deadline, footing.transport->exchange(composed.outgoing()), "subscriptions/listen");
    round->stream = kNoRequest;
    if (!reply) {
      if (reply.error().kind() == ErrorKind::timeout) connection_.cancel_at_server(footing, frame.id, "");
      co_return std::unexpected(std::move(reply.error()));
    }
    if (!reply->message || reply->message->message().kind != json::MessageKind::result) {
      if (contradicts(*reply, mcp::Era::modern)) connection_.link_.era_doubtful(footing.generation);
      co_return std::unexpected(reply_error(*reply));
    }
    co_return Result<>{};
  } catch (...) {
    connection_.cancel_at_server(footing, frame.id, "");
    throw;
  }
}

Task<Result<>> Listener::open_legacy(std::shared_ptr<Round> round, Footing footing) {
  Deadline deadline = Deadline::never(connection_.executor_);
  const Noted noted(round->wait, deadline);
  auto on_open = [this, round] {
    round->stream_open = true;
    connection_.tasks_.spawn("subscribing", subscribe(round));
  };
  auto ended = co_await before(deadline, footing.transport->listen(std::move(on_open)), "listening");
  round->stream_open = false;
  if (!ended && ended.error().kind() == ErrorKind::not_found && footing.transport->has_session())
    connection_.forget_session(footing);
  co_return ended;
}

// The stream must be open first, or an update in between is lost.
Task<> Listener::subscribe(std::shared_ptr<Round> round) {
  const auto& footing = connection_.link_.current();
  if (!footing || round->stopped) co_return;
  if (subscribed_in_ != footing->generation) {
    subscribed_in_ = footing->generation;
    subscribed_.clear();
  }
  const auto change = [](mcp::Method method, const std::string& uri, Connection& connection) {
    Params params;
    params.members.add(fmt::format(R"("uri":{})", json::quote(uri)));
    params.name = uri;
    return connection.request(method, std::move(params), {});
  };
  const std::vector<std::string> wanted = round->wanted.uris;
  for (const auto& uri : std::vector<std::string>(subscribed_)) {
    if (std::ranges::find(wanted, uri) != wanted.end()) continue;
    std::erase(subscribed_, uri);
    co_await change(mcp::Method::resources_unsubscribe, uri, connection_);
  }
  for (const auto& uri : wanted) {
    if (std::ranges::find(subscribed_, uri) != subscribed_.end()) continue;
    const auto answer = co_await change(mcp::Method::resources_subscribe, uri, connection_);
    if (!answer) {
      log::warning("updates of {} are not announced: {}", log::printable(uri), answer.error().message());
      settle(*round, answer.error());
      continue;
    }
    subscribed_.push_back(uri);
  }
  opened(*round);
}

void Listener::on_notification(const json::Message& message, mcp::Method method, RequestId during) {
  if (!round_ || round_->stopped || round_->quiet) return;
  Round& round = *round_;
  if (round.stream != kNoRequest) {
    const auto tag = json::as_int64(message.meta.value(mcp::meta::kSubscriptionId));
    if ((tag ? *tag : during) != round.stream) return;
  }
  if (method == mcp::Method::subscription_acknowledged) {
    if (round.stream == kNoRequest || round.wait == nullptr) return;
    round.wait->lift();
    if (const auto agreed = mcp::parse_subscription_filter(message.body.value("notifications")); agreed) {
      if ((round.wanted.tools && !agreed->tools) || (round.wanted.prompts && !agreed->prompts) ||
          (round.wanted.resources && !agreed->resources) || agreed->uris.size() < round.wanted.uris.size())
        log::debug("the server announces less than was asked for: {}",
                   log::printable(message.body.value("notifications")));
    }
    return opened(round);
  }
  if (!connection_.options_.on_announcement) return;
  const auto announce = [this](Announcement::Kind kind, std::string uri = {}) {
    connection_.options_.on_announcement({.kind = kind, .uri = std::move(uri)});
  };
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
