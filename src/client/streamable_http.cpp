#include "client/streamable_http.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "client/era.hpp"
#include "client/event_stream.hpp"
#include "client/http_caller.hpp"
#include "base/waiting.hpp"
#include "json/text.hpp"
#include "mcp/headers.hpp"

namespace proteus::client {
namespace {

constexpr std::size_t kMaxSessionIdBytes = 1024;
// A server that asks to be polled at once gets a breath nevertheless.
constexpr std::chrono::milliseconds kLeastRetry{20};
constexpr std::chrono::milliseconds kGoodbyeTimeout{2000};

bool is_session_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxSessionIdBytes &&
         std::ranges::all_of(text, [](char c) { return c >= 0x21 && c <= 0x7e; });
}

bool is_success(const net::ClientResponse& response) { return response.status() >= 200 && response.status() < 300; }

class StreamableHttp final : public Transport {
 public:
  StreamableHttp(net::HttpClient& http, net::Url url, const Options& options, Inbox& inbox)
      : caller_(http, std::move(url), options), options_(options), inbox_(inbox) {
    scan_limits_.bytes = options.limits.message_bytes;
  }

  Task<Result<>> start() override { co_return Result<>{}; }
  bool usable() const override { return true; }
  bool has_headers() const override { return true; }
  bool has_streams() const override { return true; }
  std::string_view session() const override { return session_; }
  bool keeps_session() const override { return has_session(); }
  void speak(mcp::Version version) override {
    version_ = version;
    write_session_headers();
  }
  void forget_session() override {
    session_.clear();
    version_.reset();
    listening_ = {};
    write_session_headers();
  }

  Task<Result<Reply>> exchange(const Outgoing& request) override;
  std::unique_ptr<Sent> try_exchange(const Outgoing& request, std::chrono::milliseconds time, Stay stay) override;
  Task<Result<>> send(const Outgoing& message) override;
  Task<Result<>> listen(std::function<void()> on_open) override;
  Task<> close() override;

 private:
  class Posted;

  bool is_legacy() const { return version_ && mcp::era_of(*version_) == mcp::Era::legacy; }
  // Requests under way keep those that they were sent with.
  using Headers = std::shared_ptr<const std::vector<Header>>;
  void write_session_headers();
  Result<> take_session(const net::ClientResponse& response);
  // The reply to a request, once the head of the answer is here.
  Task<Result<Reply>> read(net::ClientResponse response, RequestId id);
  static Result<Reply> read_json(unsigned status, Result<Received> message, RequestId id);
  using Events = std::unique_ptr<EventStream>;
  Events events_of(net::ClientResponse response, std::string last_event_id = {}) const {
    return std::make_unique<EventStream>(std::move(response), options_.limits.message_bytes, std::move(last_event_id));
  }
  Task<Result<Reply>> read_stream(Events stream, RequestId id);
  Task<Result<net::ClientResponse>> get(const StreamPosition& position);
  // The answer to `id`, where the event is that; other messages go to the inbox.
  Result<std::optional<Reply>> take(const net::SseEvent& event, RequestId id);
  Task<Result<std::optional<Reply>>> read_events(EventStream& stream, RequestId id);
  std::chrono::milliseconds pause(const StreamPosition& position) const {
    return std::max(position.retry.value_or(options_.reconnect_delay), kLeastRetry);
  }

  HttpCaller caller_;
  const Options& options_;
  Inbox& inbox_;
  json::ScanLimits scan_limits_;
  std::optional<mcp::Version> version_;
  std::string session_;
  Headers session_headers_ = std::make_shared<std::vector<Header>>();
  std::string prepared_;  // the same, for requests that are sent at once
  StreamPosition listening_;
};

void StreamableHttp::write_session_headers() {
  std::vector<Header> headers;
  if (is_legacy()) {
    if (!session_.empty()) headers.emplace_back(mcp::header::kSessionId, session_);
    headers.emplace_back(mcp::header::kProtocolVersion, mcp::to_string(*version_));
  }
  prepared_ = is_legacy() ? caller_.prepare_post(headers) : "";
  session_headers_ = std::make_shared<std::vector<Header>>(std::move(headers));
}

Task<Result<Reply>> StreamableHttp::exchange(const Outgoing& request) {
  const Headers headers = session_headers_;
  auto response = co_await caller_.post(caller_.url(), request, *headers);
  if (!response) co_return std::unexpected(std::move(response.error()));
  if (request.method == mcp::Method::initialize && is_success(*response)) {
    if (auto taken = take_session(*response); !taken) co_return std::unexpected(std::move(taken.error()));
  }
  co_return co_await read(std::move(*response), request.id);
}

Task<Result<Reply>> StreamableHttp::read(net::ClientResponse response, RequestId id) {
  if (!is_success(response)) co_return co_await read_refusal(response);
  if (response.has_content_type("application/json")) {
    auto body = response.try_read_all(options_.limits.message_bytes);
    if (body && !*body) body = co_await response.read_all(options_.limits.message_bytes);
    if (!body) co_return std::unexpected(naming_limit(std::move(body.error()), options_.limits.message_bytes));
    // The reply may go to other threads, and the response belongs to this one: the bytes are copied.
    co_return read_json(response.status(), Received::scan(std::string(**body), scan_limits_), id);
  }
  if (response.has_content_type("text/event-stream")) {
    co_return co_await read_stream(events_of(std::move(response)), id);
  }
  const std::string type(response.content_type());
  co_return std::unexpected(errors::protocol(
      type.empty() ? fmt::format("the server answered a request with HTTP {} and nothing in it", response.status())
                   : fmt::format("the server answered with {}, which is neither JSON nor an event stream",
                                 log::printable(type, 64))));
}

Result<> StreamableHttp::take_session(const net::ClientResponse& response) {
  const auto id = response.fields().find(mcp::header::kSessionId);
  if (!id) return {};
  if (!is_session_id(*id)) return std::unexpected(errors::protocol("the server gave an unusable session id"));
  session_ = *id;
  write_session_headers();
  return {};
}

Result<Reply> StreamableHttp::read_json(unsigned status, Result<Received> message, RequestId id) {
  if (!message) return std::unexpected(std::move(message.error()));
  const auto kind = message->message().kind;
  const bool answers = kind == json::MessageKind::result || kind == json::MessageKind::error;
  const bool ours = json::as_int64(message->message().id) == id;
  if ((answers && !ours && !message->message().id.empty()) || kind == json::MessageKind::request ||
      kind == json::MessageKind::notification) {
    return std::unexpected(
        errors::protocol(fmt::format("the server answered with a message that is no answer to the request: {}",
                                     log::printable(message->text(), 80))));
  }
  Reply reply;
  reply.status = static_cast<int>(status);
  reply.message = std::move(*message);
  return reply;
}

Task<Result<Reply>> StreamableHttp::read_stream(Events stream, RequestId id) {
  StreamPosition position;
  for (;;) {
    Error ended = errors::interrupted("the server ended the stream without an answer");
    if (stream) {
      auto reply = co_await read_events(*stream, id);
      if (reply && *reply) co_return std::move(**reply);
      if (!reply) {
        ended = std::move(reply.error());
        if (ended.kind() != ErrorKind::interrupted) co_return std::unexpected(std::move(ended));
      }
      position.take(*stream);
      stream.reset();
    }
    // Only where the server said how to go on, and in the era that has it.
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
    stream = events_of(std::move(*again), position.last_event_id);
  }
}

// What was sent over an idle connection.
class StreamableHttp::Posted final : public Sent {
 public:
  Posted(StreamableHttp& transport, net::ClientResponse response, RequestId id, Stay stay)
      : transport_(transport),
        response_(std::make_shared<net::ClientResponse>(std::move(response))),
        id_(id),
        stay_(stay) {}

  Result<Sight> look() override {
    if (state_ == State::sent) {
      const auto here = response_->try_read_head();
      if (!here) return std::unexpected(here.error());
      if (!*here) return Sight{.reply = {}, .waits = true};
      begin();
    }
    switch (state_) {
      case State::json: return look_at_json();
      case State::events: return look_at_events();
      default: return Sight{};
    }
  }

  Task<> wait() override {
    // What became of it, the next look tells.
    (void)co_await (events_ ? events_->wait() : response_->wait());
  }
  void stop_waiting() override { events_ ? events_->stop_waiting() : response_->stop_waiting(); }

  Task<Result<Reply>> rest() override {
    constexpr std::chrono::milliseconds kNone{0};  // deadlines are the caller's now
    if (events_) {
      events_->set_deadline(kNone);
      co_return co_await transport_.read_stream(std::move(events_), id_);
    }
    response_->set_deadline(kNone);
    while (state_ == State::sent) {
      co_await wait();
      const auto here = response_->try_read_head();
      if (!here) co_return std::unexpected(here.error());
      if (*here) state_ = State::begun;
    }
    co_return co_await transport_.read(std::move(*response_), id_);
  }

 private:
  enum class State : std::uint8_t { sent, begun, json, events };

  void begin() {
    state_ = State::begun;
    if (response_->status() != 200) return;
    if (response_->has_content_type("application/json")) {
      state_ = State::json;
    } else if (response_->has_content_type("text/event-stream")) {
      state_ = State::events;
      events_ = transport_.events_of(std::move(*response_));
    }
  }

  Result<Sight> look_at_json() {
    const std::size_t most = transport_.options_.limits.message_bytes;
    const auto body = response_->try_read_all(most);
    if (!body) return std::unexpected(naming_limit(body.error(), most));
    if (!*body) return Sight{.reply = {}, .waits = true};
    const auto& limits = transport_.scan_limits_;
    auto reply = read_json(
        200,
        stay_ == Stay::here ? Received::scan(**body, response_, limits) : Received::scan(std::string(**body), limits),
        id_);
    if (!reply) return std::unexpected(std::move(reply.error()));
    return Sight{.reply = std::move(*reply)};
  }

  Result<Sight> look_at_events() {
    for (;;) {
      const auto event = events_->try_next();
      // An interrupted stream may be resumed.
      if (!event && event.error().kind() == ErrorKind::interrupted) return Sight{};
      if (!event) return std::unexpected(event.error());
      if (!*event) return Sight{.reply = {}, .waits = !events_->ended()};
      auto reply = transport_.take(**event, id_);
      if (!reply) return std::unexpected(std::move(reply.error()));
      if (*reply) return Sight{.reply = std::move(**reply)};
    }
  }

  StreamableHttp& transport_;
  std::shared_ptr<net::ClientResponse> response_;
  Events events_;  // in place of that, where it is a stream of events
  const RequestId id_;
  const Stay stay_;
  State state_ = State::sent;
};

std::unique_ptr<Sent> StreamableHttp::try_exchange(const Outgoing& request, std::chrono::milliseconds time, Stay stay) {
  auto response = caller_.try_post(request, prepared_, time);
  if (!response) return nullptr;
  return std::make_unique<Posted>(*this, std::move(*response), request.id, stay);
}

Task<Result<std::optional<Reply>>> StreamableHttp::read_events(EventStream& stream, RequestId id) {
  for (;;) {
    auto event = co_await stream.next();
    if (!event) co_return std::unexpected(std::move(event.error()));
    if (!*event) co_return std::optional<Reply>();
    auto reply = take(**event, id);
    if (!reply || *reply) co_return reply;
  }
}

Result<std::optional<Reply>> StreamableHttp::take(const net::SseEvent& event, RequestId id) {
  if (event.data.empty() || event.type != "message") return std::nullopt;
  auto messages = scan_messages(event.data, scan_limits_, version_);
  if (!messages) return std::unexpected(std::move(messages.error()));
  std::optional<Reply> reply;
  for (auto& message : *messages) {
    switch (message.message().kind) {
      case json::MessageKind::notification: inbox_.on_notification(std::move(message), id); continue;
      case json::MessageKind::request: inbox_.on_request(std::move(message), id); continue;
      default: break;
    }
    const bool nameless = message.message().id.empty() && !message.message().error.empty();
    if (reply || id == kNoRequest || (!nameless && json::as_int64(message.message().id) != id)) {
      options_.log->warning("an answer to no request is ignored; its id is {}",
                            log::printable(message.message().id, 64));
      continue;
    }
    reply = Reply{200, std::move(message), {}};
  }
  return reply;
}

Task<Result<net::ClientResponse>> StreamableHttp::get(const StreamPosition& position) {
  std::vector<Header> headers = *session_headers_;
  headers.emplace_back("Accept", "text/event-stream");
  if (!position.last_event_id.empty()) headers.emplace_back(mcp::header::kLastEventId, position.last_event_id);
  const std::vector<std::string_view> no_body;
  co_return co_await caller_.send("GET", caller_.url(), headers, no_body, options_.timeout);
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
    // What is resumed at once was not interrupted.
    if (!resumed) on_open();
    {
      EventStream stream(std::move(*response), options_.limits.message_bytes, listening_.last_event_id);
      const std::string session = session_;
      const auto ended = co_await read_events(stream, kNoRequest);
      if (session == session_) listening_.take(stream);  // another session has other events
      if (!ended && ended.error().kind() != ErrorKind::interrupted) co_return std::unexpected(ended.error());
    }
    co_await sleep_for(pause(listening_));
  }
}

Task<> StreamableHttp::close() {
  if (session_.empty()) co_return;
  const Headers headers = session_headers_;
  session_.clear();
  write_session_headers();
  const std::vector<std::string_view> no_body;
  auto response = co_await caller_.send("DELETE", caller_.url(), *headers, no_body, kGoodbyeTimeout);
  // 405 means that the server ends sessions when it likes; any other answer changes nothing either.
  if (!response) options_.log->debug("the session was not ended: {}", response.error().message());
}

}  // namespace

Task<Result<>> end_session(net::HttpClient& http, net::Url url, Options options, HttpSession session) {
  HttpCaller caller(http, std::move(url), options);
  const std::vector<Header> headers = {
      {std::string(mcp::header::kSessionId), session.id},
      {std::string(mcp::header::kProtocolVersion), std::string(mcp::to_string(session.version))}};
  const std::vector<std::string_view> no_body;
  auto response = co_await caller.send("DELETE", caller.url(), headers, no_body, kGoodbyeTimeout);
  if (!response) co_return std::unexpected(std::move(response.error()));
  co_return Result<>{};
}

std::unique_ptr<Transport> streamable_http(net::HttpClient& http, net::Url url, const Options& options, Inbox& inbox) {
  return std::make_unique<StreamableHttp>(http, std::move(url), options, inbox);
}

}  // namespace proteus::client
