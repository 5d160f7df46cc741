#include "server/http/legacy_http.hpp"

#include <optional>

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "mcp/errors.hpp"
#include "mcp/headers.hpp"
#include "mcp/over_limit.hpp"
#include "net/http_server/refused_request.hpp"
#include "server/core/legacy_answer.hpp"
#include "server/http/http_answer.hpp"
#include "server/http/legacy_channel.hpp"

namespace proteus::server {
namespace {

constexpr std::string_view kNoBatch = "A batch is allowed only in a session of 2025-03-26";

// Returns the JSON-RPC ids of the requests in a batch, one per line.
std::string requests_in(const Batch& batch) {
  std::string ids;
  for (const auto& message : batch) {
    if (message && message->kind == json::MessageKind::request) ids += fmt::format("{}\n", message->id);
  }
  return ids;
}

}  // namespace

LegacyHttp::SessionLookup LegacyHttp::find_session(const net::Request& request, const Caller& caller) {
  if (found_) return *std::exchange(found_, std::nullopt);
  return look_up(request, request.fields().find(mcp::header::kSessionId), caller);
}

LegacyHttp::SessionLookup LegacyHttp::look_up(const net::Request& request, std::optional<std::string_view> id,
                                              const Caller& caller) const {
  if (repeated_metadata(request)) return {nullptr, 400, "An MCP header is repeated"};
  const auto version = request.fields().find(mcp::header::kProtocolVersion);
  if (version) {
    const auto known = mcp::parse_version(*version);
    if (!known || mcp::era_of(*known) != mcp::Era::legacy) {
      return {nullptr, 400, "The MCP-Protocol-Version header names a revision this server does not speak"};
    }
  }
  if (!id && request.method() == "GET") {
    // People who open the URL in a browser see this, too.
    return {nullptr, 400,
            "This is an MCP server, for MCP clients: they POST initialize first, and name their session in the "
            "Mcp-Session-Id header, which is missing"};
  }
  if (!id) return {nullptr, 400, "The Mcp-Session-Id header is missing; initialize first"};
  auto session = endpoint_.sessions_.find(*id, caller);
  if (session) return {std::move(session), 0, {}};
  const HttpEndpointOptions& options = endpoint_.options_;
  const bool may_be_elsewhere = options.session_ids != nullptr && options.others != nullptr;
  return {nullptr, 404, "Unknown session; initialize again",
          may_be_elsewhere ? endpoint_.opened_ids_->open(*id, caller) : std::nullopt};
}

Task<> LegacyHttp::post(net::Exchange& exchange, json::Message& message, const Caller& caller) {
  if (message.kind == json::MessageKind::request && message.method == "initialize") {
    co_return co_await initialize(exchange, message, caller);
  }
  auto found = find_session(exchange.request(), caller);
  auto session = is_sure(found) ? std::move(found.session)
                                : co_await look_elsewhere(exchange, message.id, std::move(found), caller);
  if (!session) co_return;
  switch (message.kind) {
    case json::MessageKind::request: co_return co_await request(exchange, message, session, caller);
    case json::MessageKind::notification:
      take_notification(message, *session, session->in_flight(), endpoint_.service_);
      break;
    // An answer to a request that is no longer open came too late, which is not the client's fault.
    default: session->client_requests().resolve(message);
  }
  co_await reply(exchange, HttpAnswer::empty(202));
}

Task<> LegacyHttp::initialize(net::Exchange& exchange, json::Message& message, const Caller& caller) {
  auto hello = read_hello(message, caller);
  if (!hello) co_return co_await reply(exchange, HttpAnswer::error(400, message.id, hello.error(), mcp::Era::legacy));
  std::string welcome = answer_initialize(message.id, *hello, endpoint_.service_);
  auto session = endpoint_.sessions_.create(std::move(*hello));
  if (!session) {
    if (RefusalLog* const refusals = endpoint_.options_.refusals; refusals != nullptr) {
      refusals->add(
          net::refused(exchange.request(), RefusalReason::limit, session.error().message(), caller.principal));
    }
    unsigned status = mcp::retry_after(session.error()).count() > 0 ? 429 : 503;
    if (session.error().kind() == ErrorKind::unauthenticated) {
      status = 401;
      endpoint_.challenge(exchange, session.error());
    }
    co_return co_await reply(exchange, HttpAnswer::error(status, message.id, session.error(), mcp::Era::legacy));
  }
  const std::string fields = fmt::format("{}: {}\r\n", mcp::header::kSessionId, (*session)->id().value());
  co_await reply(exchange, HttpAnswer::json(std::move(welcome), fields));
}

Task<> LegacyHttp::request(net::Exchange& exchange, json::Message& message, std::shared_ptr<Session> session,
                           const Caller& caller) {
  const Result<mcp::Request> request = mcp::legacy::decode(message, session->facts());
  if (!request)
    co_return co_await reply(exchange, HttpAnswer::error(200, message.id, request.error(), mcp::Era::legacy));
  const auto answered = answer_session_request(*request, *session, endpoint_.service_);
  if (answered) co_return co_await reply(exchange, HttpAnswer::json(write_outcome(*request, *answered)));
  if (changes_subscriptions(*request)) {
    const mcp::Outcome changed = co_await change_subscriptions(
        *request, *session, caller, authorization_of(exchange.request()), endpoint_.service_);
    if (!changed) co_return co_await refuse(exchange, *request, changed.error());
    co_return co_await reply(exchange, HttpAnswer::json(write_outcome(*request, changed)));
  }
  co_await call(exchange, *request, std::move(session), caller);
}

Task<> LegacyHttp::refuse(net::Exchange& exchange, const mcp::Request& request, const Error& error) const {
  const unsigned status = legacy_status(error);
  if (status == 403) endpoint_.challenge(exchange, error);
  return reply(exchange, HttpAnswer::error(status, request.id(), error, mcp::Era::legacy));
}

Task<> LegacyHttp::call(net::Exchange& exchange, const mcp::Request& request, std::shared_ptr<Session> session,
                        const Caller& caller) {
  const Executor executor = co_await boost::asio::this_coro::executor;
  auto cancellation = std::make_shared<Cancellation>(executor);
  const std::string id(request.id());
  if (!session->in_flight().add(id, cancellation)) {
    co_return co_await reply(exchange, HttpAnswer::error(400, request.id(), id_in_use(), mcp::Era::legacy));
  }
  LegacyChannel channel(exchange, executor, *session, cancellation, endpoint_.options_.keep_alive, id);
  Call call(request, caller, channel);
  call.set_authorization(authorization_of(exchange.request()));
  call.join(*session, endpoint_.options_.asking.deadline);
  mcp::Outcome outcome =
      co_await handle_asking(endpoint_.service_, call, channel, session->client_requests(), endpoint_.options_.asking);
  session->in_flight().remove(id);

  if (!cancellation->reason().empty()) {
    outcome = std::unexpected(given_up(*cancellation));
  } else if (cancellation->requested()) {
    if (channel.streaming()) co_return co_await channel.close();
    co_return co_await reply(exchange, HttpAnswer::empty(202));
  }
  if (channel.streaming()) co_return co_await channel.finish(write_outcome(request, outcome));
  if (!outcome) co_return co_await refuse(exchange, request, outcome.error());
  co_await reply(exchange, HttpAnswer(request.id(), *request.method, std::move(std::get<mcp::Reply>(*outcome)),
                                      {mcp::Era::legacy, {}, {}}));
}

Task<Result<Batch>> LegacyHttp::read_batch(net::Exchange& exchange) const {
  const std::string_view body = exchange.request().body();
  const json::ScanLimits& limits = endpoint_.options_.messages;
  BackgroundThreads* const background = endpoint_.options_.background;
  if (background == nullptr || body.size() <= kLongMessage) co_return scan_batch(body, limits);
  co_return co_await background->run([held = exchange.hold_body(), body, limits] { return scan_batch(body, limits); });
}

Task<> LegacyHttp::batch(net::Exchange& exchange, const Caller& caller) {
  auto found = find_session(exchange.request(), caller);
  if (!found.session) found.why = kNoBatch;
  auto session =
      is_sure(found) ? std::move(found.session) : co_await look_elsewhere(exchange, {}, std::move(found), caller);
  if (!session) co_return;
  if (session->hello().version != mcp::Version::v2025_03_26) {
    const Error error = mcp::errors::invalid_request(std::string(kNoBatch));
    co_return co_await reply(exchange, HttpAnswer::error(400, {}, error, mcp::Era::legacy));
  }
  auto batch = co_await read_batch(exchange);
  // Reading may take long, so the grant may have been withdrawn meanwhile.
  if (!caller.holds()) co_return co_await reply(exchange, endpoint_.refuse_withdrawn(exchange, {}));
  if (!batch) co_return co_await reply(exchange, HttpAnswer::error(400, {}, batch.error(), mcp::Era::legacy));

  const Executor executor = co_await boost::asio::this_coro::executor;
  auto cancellation = std::make_shared<Cancellation>(executor);
  LegacyChannel channel(exchange, executor, *session, cancellation, endpoint_.options_.keep_alive, requests_in(*batch));
  bool first = true;
  const BatchHandling handling{.answer =
                                   [&](json::Message& message) {
                                     return answer_in_batch(exchange, message, *session, caller, channel,
                                                            std::exchange(first, false));
                                   },
                               .send = [&channel](std::string answer) { channel.send(std::move(answer)); }};
  co_await run_batch(std::move(*batch), *session, session->in_flight(), endpoint_.service_, handling);
  if (channel.streaming()) co_return co_await channel.close();
  co_await reply(exchange, HttpAnswer::empty(202));
}

Task<std::string> LegacyHttp::answer_in_batch(net::Exchange& exchange, json::Message& message, Session& session,
                                              const Caller& caller, LegacyChannel& channel, bool counted) {
  if (!counted && endpoint_.options_.admit_request) {
    const auto admitted = endpoint_.options_.admit_request(caller);
    if (!admitted) co_return mcp::write_error(message.id, admitted.error(), mcp::Era::legacy);
  }
  channel.set_cancellation(std::make_shared<Cancellation>(co_await boost::asio::this_coro::executor));
  co_return co_await answer_request(message, session, caller, authorization_of(exchange.request()), session.in_flight(),
                                    channel, endpoint_.service_, endpoint_.options_.asking);
}

Task<> LegacyHttp::get(net::Exchange& exchange, const Caller& caller) {
  const net::Request& request = exchange.request();
  const auto refuse = [&exchange](unsigned status, const Error& error) {
    return reply(exchange, HttpAnswer::error(status, {}, error, mcp::Era::legacy));
  };
  if (!accepts(request, "text/event-stream")) {
    const Error error = mcp::errors::invalid_request("Accept must list text/event-stream");
    co_return co_await refuse(406, error);
  }
  auto found = find_session(request, caller);
  auto session =
      is_sure(found) ? std::move(found.session) : co_await look_elsewhere(exchange, {}, std::move(found), caller);
  if (!session) co_return;

  std::shared_ptr<ReplayStream> stream = session->standalone();
  std::optional<std::uint64_t> after;
  if (const auto last = request.fields().find(mcp::header::kLastEventId)) {
    const auto id = parse_event_id(*last);
    if (id && session->is_of_another(id->stream)) co_return co_await resume_left(exchange, session, *id, caller);
    stream = id ? session->find_stream(id->stream) : nullptr;
    after = id ? std::optional(id->number) : std::nullopt;
  }
  std::shared_ptr<void> place = stream ? stream->place() : nullptr;
  if (!place) {
    auto admitted = endpoint_.admit_stream(caller);
    if (!admitted) co_return co_await refuse(429, admitted.error());
    place = std::move(*admitted);
  }
  auto outbox = std::make_shared<Outbox>(co_await boost::asio::this_coro::executor);
  // For clients that wait for a first byte. Only answers to POST begin with an event without data.
  outbox->push(std::string(kComment));
  if (!stream || co_await stream->attach(outbox, after, place) == ReplayStream::Attach::gone) {
    co_return co_await refuse(400, no_longer_kept());
  }
  co_await read_stream(exchange, *session, caller, stream == session->standalone(), std::move(outbox));
}

Task<> LegacyHttp::read_stream(net::Exchange& exchange, Session& session, const Caller& caller, bool standalone,
                               std::shared_ptr<Outbox> outbox) const {
  exchange.on_disconnect([outbox] { outbox->close(); });
  if (standalone) {
    exchange.on_drain([outbox] { outbox->close(); });
    // After all streams were ended, one that another process forwards would keep the session from being handed over.
    // Credentials may have been withdrawn while the stream was opened.
    if (endpoint_.ends_listening_ || !caller.holds()) outbox->close();
    session.outside()->opened();
    endpoint_.service_.session_listens(session);
  }
  co_await stream_events(exchange, std::move(outbox), endpoint_.options_.keep_alive);
}

Error LegacyHttp::no_longer_kept() {
  return mcp::errors::invalid_request(
      "The events after this Last-Event-ID are no longer kept; open a new stream without it");
}

Task<> LegacyHttp::remove(net::Exchange& exchange, const Caller& caller) {
  auto found = find_session(exchange.request(), caller);
  auto session =
      is_sure(found) ? std::move(found.session) : co_await look_elsewhere(exchange, {}, std::move(found), caller);
  if (!session) co_return;
  endpoint_.sessions_.remove(session->id().value(), caller);
  co_await reply(exchange, HttpAnswer::empty(200));
}

}  // namespace proteus::server
