#include "client/transport/streamable_http.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/memory/recycled.hpp"
#include "base/tasks/waiting.hpp"
#include "client/message/era.hpp"
#include "client/message/retry_after.hpp"
#include "client/transport/posted_reply.hpp"
#include "client/transport/streamable_http_transport.hpp"
#include "json/text.hpp"
#include "mcp/headers.hpp"

namespace proteus::client {
namespace {

constexpr std::size_t kMaxSessionIdBytes = 1024;
// The shortest pause before a stream is opened again, even if the server asks to be polled at once.
constexpr std::chrono::milliseconds kLeastRetry{20};

bool is_session_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxSessionIdBytes &&
         std::ranges::all_of(text, [](char c) { return c >= 0x21 && c <= 0x7e; });
}

}  // namespace

Role role_of(const json::Message& message, RequestId id) {
  if (message.kind == json::MessageKind::notification) return Role::notification;
  if (message.kind == json::MessageKind::request) return Role::request;
  if (id == kNoRequest) return Role::stray;
  // A server that cannot read the id answers with an error that has none.
  const bool nameless = message.id.empty() && !message.error.empty();
  return nameless || json::as_int64(message.id) == id ? Role::answer : Role::stray;
}

std::chrono::milliseconds StreamableHttp::pause(const StreamPosition& position) const {
  return std::max(position.retry.value_or(options_.reconnect_delay), kLeastRetry);
}

void StreamableHttp::write_session_headers() {
  std::vector<Header> headers;
  if (is_legacy()) {
    if (!session_.empty()) headers.emplace_back(mcp::header::kSessionId, session_);
    headers.emplace_back(mcp::header::kProtocolVersion, mcp::to_string(*version_));
    prepared_ = caller_.prepare_post(headers);
  } else {
    // A modern request states its version itself.
    const Header version(mcp::header::kProtocolVersion, mcp::to_string(mcp::kModern));
    prepared_ = version_ ? caller_.prepare_post({&version, 1}) : "";
  }
  session_headers_ = std::make_shared<std::vector<Header>>(std::move(headers));
}

Result<> StreamableHttp::take_session(const net::ClientResponse& response) {
  const auto id = response.fields().find(mcp::header::kSessionId);
  if (!id) return {};
  if (!is_session_id(*id)) return std::unexpected(errors::protocol("the server gave an unusable session id"));
  session_ = *id;
  write_session_headers();
  return {};
}

Task<Result<Reply>> StreamableHttp::exchange(const Outgoing& request) {
  const Headers headers = session_headers_;
  auto response = co_await caller_.post(caller_.url(), request, *headers);
  if (!response) co_return std::unexpected(std::move(response.error()));
  if (request.method == mcp::Method::initialize && is_success(*response)) {
    if (auto taken = take_session(*response); !taken) co_return std::unexpected(std::move(taken.error()));
  }
  // Other threads may use the reply, and the response belongs to this one. So the bytes are copied.
  PostedReply posted(*this, std::move(*response), request.id, Stay::anywhere, true);
  co_return co_await posted.finish();
}

std::shared_ptr<PendingReply> StreamableHttp::try_exchange(const Outgoing& request, std::chrono::milliseconds time,
                                                           Stay stay) {
  ReadyHeaders::Pointer sent;
  auto response = caller_.try_post(request, prepared_, time, sent);
  if (!response) return nullptr;
  auto reply = make_recycled<PostedReply>(*this, std::move(*response), request.id, stay, false);
  if (sent) reply->set_sent(std::move(sent), caller_.authorizer_of(&request));
  return reply;
}

Task<Result<Reply>> StreamableHttp::resume(std::optional<EventStream>& stream, RequestId id) {
  StreamPosition position;
  for (;;) {
    Error ended = errors::interrupted("the server ended the stream without an answer");
    if (stream) {
      auto reply = co_await read(*stream, id);
      if (reply && *reply) co_return std::move(**reply);
      if (!reply) {
        ended = std::move(reply.error());
        if (ended.kind() != ErrorKind::interrupted) co_return std::unexpected(std::move(ended));
      }
      position.take(*stream);
      stream.reset();
    }
    // Only the legacy era has resumption, and only if the server sent an event id.
    if (!is_legacy() || position.last_event_id.empty()) co_return std::unexpected(std::move(ended));
    co_await sleep_for(pause(position));
    auto again = co_await get(position);
    if (!again) {
      if (again.error().kind() != ErrorKind::unreachable && again.error().kind() != ErrorKind::interrupted)
        co_return std::unexpected(std::move(again.error()));
      continue;
    }
    if (!is_success(*again) || !again->has_content_type("text/event-stream")) {
      co_return std::unexpected(
          std::move(ended).within(fmt::format("a stream could not be resumed (HTTP {})", again->status())));
    }
    stream.emplace(std::move(*again), options_.limits.message_bytes, position.last_event_id);
  }
}

Task<Result<std::optional<Reply>>> StreamableHttp::read(EventStream& stream, RequestId id) {
  OwnedText aside;
  for (;;) {
    auto polled = poll(stream, id, nullptr, aside);
    if (!polled) co_return std::unexpected(std::move(polled.error()));
    if (polled->reply) co_return std::move(polled->reply);
    if (!aside.text.empty()) {
      auto reply = co_await take_aside(std::exchange(aside, {}), id);
      if (!reply || *reply) co_return reply;
    } else if (polled->waits) {
      (void)co_await stream.wait();
    } else {
      co_return std::optional<Reply>();
    }
  }
}

Task<Result<std::optional<Reply>>> StreamableHttp::take_aside(OwnedText data, RequestId id) {
  auto messages = co_await scan_messages_aside(*options_.background, std::move(data), scan_limits_, version_);
  if (!messages) co_return std::unexpected(messages.error());
  co_return take_all(std::move(*messages), id);
}

std::optional<std::vector<Received>> scan_lines(std::string_view body, const json::ScanLimits& limits, RequestId id) {
  constexpr std::size_t kMostLines = 100;
  std::vector<Received> messages;
  bool answered = false;
  while (!body.empty()) {
    const std::string_view line = body.substr(0, body.find('\n'));
    body.remove_prefix(std::min(body.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (messages.size() == kMostLines) return std::nullopt;
    auto message = Received::scan(std::string(line), limits);
    if (!message || message->message().kind == json::MessageKind::invalid) return std::nullopt;
    answered = answered || role_of(message->message(), id) == Role::answer;
    messages.push_back(std::move(*message));
  }
  if (!answered) return std::nullopt;
  return messages;
}

std::optional<Reply> StreamableHttp::take_all(std::vector<Received> messages, RequestId id) const {
  std::optional<Reply> reply;
  for (auto& message : messages)
    take(message, Bytes::own, id, reply);
  return reply;
}

Result<PendingReply::Poll> StreamableHttp::poll(EventStream& stream, RequestId id,
                                                const std::shared_ptr<const void>& owner, OwnedText& aside) {
  PendingReply::Poll polled;
  Received received;
  while (!polled.reply) {
    const auto event = stream.try_next();
    if (!event) return std::unexpected(event.error());
    if (!*event) {
      polled.waits = !stream.ended();
      break;
    }
    const std::string_view data = (*event)->data;
    if (data.empty() || (*event)->type != "message") continue;
    if (is_for_background(data.size(), options_.background)) {
      aside = stream.take_data(data);
      break;
    }
    if (version_ == mcp::Version::v2025_03_26) {
      auto messages = scan_messages(data, scan_limits_, version_);
      if (!messages) return std::unexpected(messages.error());
      for (auto& message : *messages)
        take(message, Bytes::own, id, polled.reply);
      continue;
    }
    const bool kept = owner && stream.keeps(data);
    const auto copy = kept ? nullptr : std::make_shared<const std::string>(data);
    const auto scanned = kept ? received.rescan(data, owner, scan_limits_) : received.rescan(*copy, copy, scan_limits_);
    if (!scanned) return std::unexpected(scanned.error());
    if (kept) received.set_on_one_line();
    take(received, kept ? Bytes::of_stream : Bytes::own, id, polled.reply);
  }
  return polled;
}

void StreamableHttp::take(Received& message, Bytes bytes, RequestId id, std::optional<Reply>& reply) const {
  switch (role_of(message.message(), id)) {
    case Role::notification: return inbox_.on_notification(message, id);
    case Role::request: return inbox_.on_request(bytes == Bytes::own ? message : message.copy(), id);
    case Role::answer:
      if (reply) break;
      reply.emplace(200, std::move(message), std::string());
      return;
    case Role::stray: break;
  }
  options_.log->warning("an answer to no request is ignored; its id is {}", log::printable(message.message().id, 64));
}

Task<Result<net::ClientResponse>> StreamableHttp::get(const StreamPosition& position) {
  std::vector<Header> headers = *session_headers_;
  headers.emplace_back("Accept", "text/event-stream");
  if (!position.last_event_id.empty()) headers.emplace_back(mcp::header::kLastEventId, position.last_event_id);
  co_return co_await caller_.send("GET", caller_.url(), headers, options_.timeout);
}

Task<Result<>> StreamableHttp::send(const Outgoing& message) {
  const Headers headers = session_headers_;
  auto response = co_await caller_.post(caller_.url(), message, *headers);
  if (!response) co_return std::unexpected(std::move(response.error()));
  if (is_success(*response)) {
    co_await drain(*response);
    co_return Result<>{};
  }
  auto refusal = co_await read_refusal(*response);
  co_return std::unexpected(refusal ? reply_error(*refusal) : std::move(refusal.error()));
}

Task<Result<>> StreamableHttp::listen(std::function<void()> on_open) {
  if (!is_legacy()) co_return std::unexpected(errors::unsupported("a modern server has no stream of its own"));
  for (bool resumed = false;; resumed = !listening_.last_event_id.empty()) {
    auto response = co_await get(listening_);
    if (!response) co_return std::unexpected(std::move(response.error()));
    if (response->status() == 405)
      co_return std::unexpected(errors::unsupported("the server offers no stream of its own"));
    if (!is_success(*response)) {
      auto refusal = co_await read_refusal(*response);
      co_return std::unexpected(refusal ? reply_error(*refusal) : std::move(refusal.error()));
    }
    if (!response->has_content_type("text/event-stream"))
      co_return std::unexpected(errors::unsupported("the server answers GET with something else than a stream"));
    // A stream that is resumed by its event id has missed nothing.
    if (!resumed) on_open();
    const std::string before = listening_.last_event_id;
    {
      EventStream stream(std::move(*response), options_.limits.message_bytes, listening_.last_event_id);
      const std::string session = session_;
      const auto ended = co_await read(stream, kNoRequest);
      if (session == session_) listening_.take(stream);  // another session has its own events
      if (!ended && ended.error().kind() != ErrorKind::interrupted) co_return std::unexpected(ended.error());
    }
    if (listening_.last_event_id.empty()) {  // the stream cannot be resumed
      auto over = errors::interrupted("the server ended its event stream");
      if (!listening_.retry || *listening_.retry < std::chrono::seconds(1)) co_return std::unexpected(std::move(over));
      const auto retry = std::chrono::ceil<std::chrono::seconds>(*listening_.retry);
      co_return std::unexpected(std::move(over).with_retry_after(std::min(retry, kLongestRetryAfter)));
    }
    // A server that asks to be polled at once is polled at once only while it has something to say.
    const bool silent = listening_.last_event_id == before;
    co_await sleep_for(silent ? std::max(pause(listening_), options_.reconnect_delay) : pause(listening_));
  }
}

Task<> StreamableHttp::close() {
  if (session_.empty()) co_return;
  const Headers headers = session_headers_;
  session_.clear();
  write_session_headers();
  // Status 405 means that clients cannot end sessions; other statuses make no difference, either.
  const auto ended = co_await caller_.say_goodbye(*headers);
  if (!ended) options_.log->debug("the session was not ended: {}", ended.error().message());
}

Task<Result<>> end_session(net::HttpClient& http, net::Url url, Options options, HttpSession session) {
  HttpCaller caller(http, std::move(url), options);
  const std::vector<Header> headers = {
      {std::string(mcp::header::kSessionId), session.id},
      {std::string(mcp::header::kProtocolVersion), std::string(mcp::to_string(session.version))}};
  co_return co_await caller.say_goodbye(headers);
}

std::unique_ptr<Transport> streamable_http(net::HttpClient& http, net::Url url, const Options& options, Inbox& inbox) {
  return std::make_unique<StreamableHttp>(http, std::move(url), options, inbox);
}

}  // namespace proteus::client
