#include "server/modern_http.hpp"

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/task_group.hpp"
#include "mcp/errors.hpp"
#include "server/http_answers.hpp"
#include "server/listen_stream.hpp"
#include "server/modern_answer.hpp"

namespace proteus::server {
namespace {

// For handlers that do not wait: what they send goes out with the answer.
class ImmediateChannel final : public CallChannel {
 public:
  explicit ImmediateChannel(net::Exchange& exchange) : exchange_(exchange) {}

  void send(std::string message) override { append_sse_frame(frames_, std::move(message)); }
  void release(std::chrono::milliseconds) override {}
  Cancellation& cancellation() override {
    if (!cancellation_) cancellation_ = std::make_shared<Cancellation>(exchange_.executor());
    return *cancellation_;
  }

  std::string& frames() { return frames_; }

 private:
  net::Exchange& exchange_;
  std::string frames_;
  std::shared_ptr<Cancellation> cancellation_;
};

// More is not kept for an answer in one piece; behind that the bounds of the stream hold.
constexpr std::size_t kHeldBack = std::size_t{64} << 10U;

// For those that may wait: a single JSON object, unless something is sent in front of it, which makes it a stream.
class StreamChannel final : public CallChannel {
 public:
  StreamChannel(net::Exchange& exchange, std::chrono::milliseconds keep_alive)
      : exchange_(exchange), keep_alive_(keep_alive) {}
  ~StreamChannel() override { call_off(); }
  StreamChannel(const StreamChannel&) = delete;
  StreamChannel& operator=(const StreamChannel&) = delete;

  void send(std::string message) override {
    send_with_answer(std::move(message));
    if (outbox_ || starting_) return;
    // What comes at the same time goes out together, and as the whole answer where that is all.
    starting_ = std::make_shared<StreamChannel*>(this);
    boost::asio::post(exchange_.executor(), [starting = starting_] {
      if (*starting != nullptr) (*starting)->start();
    });
  }

  void send_with_answer(std::string message) override {
    if (outbox_) {
      outbox_->push(sse_frame(std::move(message)));
      return;
    }
    append_sse_frame(frames_, std::move(message));
    if (frames_.size() > kHeldBack) start();
  }

  void release(std::chrono::milliseconds) override {}

  // A client that closes its connection has cancelled.
  Cancellation& cancellation() override {
    if (!cancellation_) {
      cancellation_ = std::make_shared<Cancellation>(exchange_.executor());
      exchange_.on_disconnect([cancellation = cancellation_] { cancellation->fire(); });
    }
    return *cancellation_;
  }

  bool streaming() const { return outbox_ != nullptr; }
  bool cancelled() const { return cancellation_ && cancellation_->requested(); }
  // What was sent, where that is no stream yet, and will not be one any more.
  std::string take_frames() {
    call_off();
    return std::exchange(frames_, {});
  }

  // Ends the stream.
  Task<> close() {
    outbox_->close();
    co_await group_->join();
  }
  Task<> finish(std::string message) {
    outbox_->push(sse_frame(std::move(message)));
    return close();
  }

 private:
  void call_off() {
    if (starting_) *starting_ = nullptr;
  }
  void start() {
    call_off();
    outbox_ = std::make_shared<Outbox>(exchange_.executor());
    outbox_->push(std::exchange(frames_, {}));
    group_.emplace(exchange_.executor());
    group_->spawn("answer stream", pump(exchange_, outbox_, keep_alive_));
  }
  static Task<> pump(net::Exchange& exchange, std::shared_ptr<Outbox> outbox, std::chrono::milliseconds keep_alive) {
    co_await stream_events(exchange, std::move(outbox), keep_alive);
  }

  net::Exchange& exchange_;
  std::chrono::milliseconds keep_alive_;
  std::string frames_;                        // before the stream has begun
  std::shared_ptr<StreamChannel*> starting_;  // null inside once it must not
  std::shared_ptr<Outbox> outbox_;
  std::optional<TaskGroup> group_;
  std::shared_ptr<Cancellation> cancellation_;
};

}  // namespace

ModernHttp::ModernHttp(HttpEndpoint& endpoint, net::Exchange& exchange, json::Message& message, const Caller& caller)
    : endpoint_(endpoint),
      exchange_(exchange),
      message_(message),
      caller_(caller),
      headers_([&exchange](std::string_view name) { return exchange.request().fields().find(name); }) {}

// A request that is wrong in itself is refused with 400, also where the same code could answer a good one with 200.
HttpAnswer ModernHttp::refuse(const Error& error) const {
  const unsigned status = mcp::http_status(error, mcp::Era::modern);
  return HttpAnswer::error(status == 200 ? 400 : status, message_.id, error, mcp::Era::modern);
}

std::optional<HttpAnswer> ModernHttp::answer() {
  // 2026-07-28 has no notifications from a client over HTTP, and no responses; the former do no harm.
  if (message_.kind == json::MessageKind::notification) return HttpAnswer::empty(202);
  if (message_.kind != json::MessageKind::request) {
    return refuse(mcp::errors::invalid_request("A client may send requests and notifications, but no responses"));
  }
  if (const auto repeated = repeated_metadata(exchange_.request())) {
    return refuse(mcp::errors::header_mismatch(fmt::format("{} is there twice", *repeated)));
  }
  auto request = mcp::modern::decode(message_, headers_, endpoint_.options_.eras);
  if (!request) return refuse(request.error());
  request_ = *request;
  switch (request_.method->method) {
    case mcp::Method::discover:
      return HttpAnswer(request_.id(), *request_.method,
                        discover_reply(endpoint_.service_, caller_, endpoint_.options_.eras), style());
    case mcp::Method::listen: return std::nullopt;
    default: return call_at_once();
  }
}

std::optional<HttpAnswer> ModernHttp::call_at_once() {
  ImmediateChannel channel(exchange_);
  Call call(request_, caller_, channel, &headers_);
  call.set_fields(exchange_.request().fields());
  ModernRound round(call, endpoint_.states_);
  if (auto opened = round.open(); !opened) return refuse(opened.error());
  auto answered = endpoint_.service_.answer(call);
  if (!answered) return std::nullopt;

  mcp::Outcome& outcome = *answered;
  round.close(outcome);
  if (auto* reply = channel.frames().empty() && outcome ? std::get_if<mcp::Reply>(&*outcome) : nullptr) {
    return std::optional<HttpAnswer>(std::in_place, request_.id(), *request_.method, std::move(*reply), style());
  }
  return whole_answer(round, outcome, std::move(channel.frames()));
}

HttpAnswer ModernHttp::whole_answer(const ModernRound& round, mcp::Outcome& outcome, std::string frames) const {
  auto* const reply = outcome ? std::get_if<mcp::Reply>(&*outcome) : nullptr;
  if (reply != nullptr) {
    if (frames.empty()) return HttpAnswer(request_.id(), *request_.method, std::move(*reply), style());
    return HttpAnswer(std::move(frames), request_.id(), *request_.method, std::move(*reply), style());
  }
  if (!frames.empty()) {
    append_sse_frame(frames, round.write(outcome, style()));
    return HttpAnswer::events(std::move(frames));
  }
  if (!outcome) {
    const unsigned status = mcp::http_status(outcome.error(), mcp::Era::modern);
    return HttpAnswer::error(status, request_.id(), outcome.error(), mcp::Era::modern);
  }
  return HttpAnswer::json(round.write(outcome, style()));
}

Task<> ModernHttp::go_on() {
  if (request_.method->method == mcp::Method::listen) return listen();
  return call();
}

Task<> ModernHttp::call() {
  StreamChannel channel(exchange_, endpoint_.options_.keep_alive);
  Call call(request_, caller_, channel, &headers_);
  call.set_fields(exchange_.request().fields());
  ModernRound round(call, endpoint_.states_);
  const auto opened = round.open();
  mcp::Outcome outcome =
      opened ? co_await endpoint_.service_.handle(call) : mcp::Outcome(std::unexpected(opened.error()));
  if (opened) round.close(outcome);
  if (channel.streaming()) {
    co_await (channel.cancelled() ? channel.close() : channel.finish(round.write(outcome, style())));
    co_return;
  }
  std::string frames = channel.take_frames();
  if (channel.cancelled()) co_return;
  const HttpAnswer answer = whole_answer(round, outcome, std::move(frames));
  const HttpAnswer::Parts parts = answer.parts();
  if (!exchange_.try_reply(answer.head(), {parts.data(), parts.size()})) co_await exchange_.finish_reply();
}

Task<> ModernHttp::listen() {
  const auto wanted = mcp::parse_subscription_filter(request_.param("notifications"));
  if (!wanted) co_return co_await reply_error(exchange_, 400, request_.id(), wanted.error(), mcp::Era::modern);
  const auto place = endpoint_.admit_stream(caller_);
  if (!place) co_return co_await reply_error(exchange_, 429, request_.id(), place.error(), mcp::Era::modern);
  auto outbox = std::make_shared<Outbox>(exchange_.executor());
  const mcp::SubscriptionFilter accepted = endpoint_.service_.accept(*wanted, caller_, nullptr);
  ListenStream stream(
      caller_, accepted, std::string(request_.id()), style(),
      [outbox](std::string message) { outbox->push_once(sse_frame(std::move(message))); },
      [outbox] { outbox->close(); });
  const auto registration = stream.start(endpoint_.listeners_);
  exchange_.on_disconnect([outbox] { outbox->close(); });
  stream.acknowledge(refused_uris(co_await endpoint_.service_.follow(caller_, nullptr, request_, accepted)));
  co_await stream_events(exchange_, outbox, endpoint_.options_.keep_alive);
}

}  // namespace proteus::server
