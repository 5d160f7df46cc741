#include "server/legacy_http.hpp"

#include <optional>

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "base/task_group.hpp"
#include "mcp/errors.hpp"
#include "mcp/headers.hpp"
#include "server/http_answers.hpp"
#include "server/legacy_answer.hpp"

namespace proteus::server {
namespace {

// Clients of 2025-11-25 take an event without data as the sign that they may come back; older ones trip over it.
bool primes(const Session& session) { return session.hello().version >= mcp::Version::v2025_11_25; }

// The answer to a request: a single JSON object, unless something is sent in front of it. A stream outlives the
// client's connection: the session keeps it until the answer was fetched.
class LegacyChannel final : public CallChannel {
 public:
  LegacyChannel(net::Exchange& exchange, const Executor& executor, Session& session,
                std::shared_ptr<Cancellation> cancellation, std::chrono::milliseconds keep_alive)
      : exchange_(exchange),
        executor_(executor),
        session_(session),
        cancellation_(std::move(cancellation)),
        keep_alive_(keep_alive) {}

  void send(std::string message) override {
    join_lines(message);
    stream().push(message);
  }

  void release(std::chrono::milliseconds retry) override { stream().detach(retry); }

  Cancellation& cancellation() override { return *cancellation_; }

  bool streaming() const { return stream_ != nullptr; }

  Task<> finish(std::string message) {
    send(std::move(message));
    co_await close();
  }
  Task<> close() {
    stream_->finish();
    co_await group_->join();
  }

 private:
  ReplayStream& stream() {
    if (!stream_) {
      stream_ = session_.new_stream();
      auto outbox = std::make_shared<Outbox>(executor_);
      stream_->attach(outbox, 0, primes(session_));
      exchange_.on_disconnect([outbox] { outbox->close(); });
      group_.emplace(executor_);
      group_->spawn("answer stream", pump(exchange_, std::move(outbox), keep_alive_));
    }
    return *stream_;
  }

  static Task<> pump(net::Exchange& exchange, std::shared_ptr<Outbox> outbox, std::chrono::milliseconds keep_alive) {
    co_await stream_events(exchange, std::move(outbox), keep_alive);
    // The call may go on without this connection, which must not seem usable for others meanwhile.
    exchange.close();
  }

  net::Exchange& exchange_;
  Executor executor_;
  Session& session_;
  std::shared_ptr<Cancellation> cancellation_;
  std::chrono::milliseconds keep_alive_;
  std::shared_ptr<ReplayStream> stream_;
  std::optional<TaskGroup> group_;
};

// The session a request names, or the HTTP error that says why there is none.
struct SessionLookup {
  std::shared_ptr<Session> session;
  unsigned status = 0;
  std::string_view why;
};
SessionLookup find_session(Sessions& sessions, const net::Request& request, const Caller& caller) {
  const auto version = request.fields().find(mcp::header::kProtocolVersion);
  if (version) {
    const auto known = mcp::parse_version(*version);
    if (!known || mcp::era_of(*known) != mcp::Era::legacy) {
      return {nullptr, 400, "The MCP-Protocol-Version header names a revision this server does not speak"};
    }
  }
  const auto id = request.fields().find(mcp::header::kSessionId);
  if (!id) return {nullptr, 400, "The Mcp-Session-Id header is missing; initialize first"};
  auto session = sessions.find(*id, caller);
  if (!session) return {nullptr, 404, "Unknown session; initialize again"};
  return {std::move(session)};
}

}  // namespace

Task<> LegacyHttp::post(net::Exchange& exchange, json::Message& message, const Caller& caller) {
  if (message.kind == json::MessageKind::request && message.method == "initialize") {
    co_return co_await initialize(exchange, message, caller);
  }
  auto [session, status, why] = find_session(endpoint_.sessions_, exchange.request(), caller);
  if (!session) {
    const Error error = mcp::errors::invalid_request(std::string(why));
    co_return co_await reply_error(exchange, status, message.id, error, mcp::Era::legacy);
  }
  switch (message.kind) {
    case json::MessageKind::request: co_return co_await request(exchange, message, std::move(session));
    case json::MessageKind::notification: take_notification(message, *session); break;
    // An answer that nobody waits for any more came too late, which is no fault of the client's.
    default: session->client_requests().resolve(message);
  }
  co_await reply_empty(exchange, 202);
}

Task<> LegacyHttp::initialize(net::Exchange& exchange, json::Message& message, const Caller& caller) {
  auto hello = read_hello(message, caller);
  if (!hello) co_return co_await reply_error(exchange, 400, message.id, hello.error(), mcp::Era::legacy);
  const mcp::Reply reply = initialize_reply(endpoint_.service_, *hello);
  auto session = endpoint_.sessions_.create(std::move(*hello));
  if (!session) co_return co_await reply_error(exchange, 503, message.id, session.error(), mcp::Era::legacy);
  const std::string fields = fmt::format("{}: {}\r\n", mcp::header::kSessionId, (*session)->id().value());
  co_await reply_result(exchange, message.id, *mcp::find_method(mcp::Era::legacy, mcp::Sender::client, "initialize"),
                        reply, {mcp::Era::legacy, {}}, fields);
}

Task<> LegacyHttp::request(net::Exchange& exchange, json::Message& message, std::shared_ptr<Session> session) {
  const Result<mcp::Request> request = mcp::legacy::decode(message, session->facts());
  if (!request) co_return co_await reply_error(exchange, 200, message.id, request.error(), mcp::Era::legacy);
  const auto answered = answer_session_request(*request, *session, endpoint_.service_);
  if (answered) {
    const std::string body = write_outcome(*request, *answered);
    co_return co_await reply_json(exchange, 200, body);
  }
  co_await call(exchange, *request, std::move(session));
}

Task<> LegacyHttp::call(net::Exchange& exchange, const mcp::Request& request, std::shared_ptr<Session> session) {
  const Executor executor = co_await boost::asio::this_coro::executor;
  auto cancellation = std::make_shared<Cancellation>(executor);
  const std::string id(request.id());
  if (!session->in_flight().add(id, cancellation)) {
    const Error error = mcp::errors::invalid_request("A request with this id is still being answered");
    co_return co_await reply_error(exchange, 400, request.id(), error, mcp::Era::legacy);
  }
  LegacyChannel channel(exchange, executor, *session, cancellation, endpoint_.options_.keep_alive);
  Call call(request, session->hello().caller, channel);
  const mcp::Outcome outcome = co_await handle_asking(endpoint_.service_, call, channel, session->client_requests(),
                                                      endpoint_.options_.asking);
  session->in_flight().remove(id);

  if (cancellation->requested()) {
    if (channel.streaming()) co_return co_await channel.close();
    co_return co_await reply_empty(exchange, 202);
  }
  if (channel.streaming()) co_return co_await channel.finish(write_outcome(request, outcome));
  if (!outcome) co_return co_await reply_error(exchange, 200, request.id(), outcome.error(), mcp::Era::legacy);
  co_await reply_result(exchange, request.id(), *request.method, std::get<mcp::Reply>(*outcome),
                        {mcp::Era::legacy, {}});
}

Task<> LegacyHttp::get(net::Exchange& exchange, const Caller& caller) {
  const net::Request& request = exchange.request();
  const auto refuse = [&exchange](unsigned status, const Error& error) {
    return reply_error(exchange, status, {}, error, mcp::Era::legacy);
  };
  if (!accepts(request, "text/event-stream")) {
    const Error error = mcp::errors::invalid_request("Accept must list text/event-stream");
    co_return co_await refuse(406, error);
  }
  auto [session, status, why] = find_session(endpoint_.sessions_, request, caller);
  if (!session) {
    const Error error = mcp::errors::invalid_request(std::string(why));
    co_return co_await refuse(status, error);
  }

  std::shared_ptr<ReplayStream> stream = session->find_stream(0);
  std::optional<std::uint64_t> after;
  if (const auto last = request.fields().find(mcp::header::kLastEventId)) {
    const auto id = parse_event_id(*last);
    stream = id ? session->find_stream(id->stream) : nullptr;
    after = id ? std::optional(id->number) : std::nullopt;
  }
  auto outbox = std::make_shared<Outbox>(co_await boost::asio::this_coro::executor);
  const bool prime = !after && primes(*session);
  if (!stream || stream->attach(outbox, after, prime) == ReplayStream::Attach::gone) {
    const Error error = mcp::errors::invalid_request(
        "The events after this Last-Event-ID are no longer kept; open a new stream without it");
    co_return co_await refuse(400, error);
  }
  exchange.on_disconnect([outbox] { outbox->close(); });
  co_await stream_events(exchange, outbox, endpoint_.options_.keep_alive);
}

Task<> LegacyHttp::remove(net::Exchange& exchange, const Caller& caller) {
  auto [session, status, why] = find_session(endpoint_.sessions_, exchange.request(), caller);
  if (!session) {
    const Error error = mcp::errors::invalid_request(std::string(why));
    co_return co_await reply_error(exchange, status, {}, error, mcp::Era::legacy);
  }
  endpoint_.sessions_.remove(session->id().value(), caller);
  co_await reply_empty(exchange, 200);
}

}  // namespace proteus::server
