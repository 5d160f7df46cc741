#include "server/http/modern_http.hpp"

#include <fmt/format.h>

#include "mcp/errors.hpp"
#include "server/core/listen_stream.hpp"

namespace proteus::server {
ModernHttp::ModernHttp(HttpEndpoint& endpoint, net::Exchange& exchange, json::Message& message, const Caller& caller,
                       Via via)
    : endpoint_(endpoint),
      exchange_(exchange),
      message_(message),
      caller_(caller),
      via_(via),
      headers_([&exchange](std::string_view name) { return exchange.request().fields().find(name); }) {}

// A malformed request is answered with 400, even if the same error code answers a well-formed request with 200.
HttpAnswer ModernHttp::refuse(const Error& error) const {
  const unsigned status = mcp::http_status(error, mcp::Era::modern);
  return HttpAnswer::error(status == 200 ? 400 : status, message_.id, error, mcp::Era::modern);
}

std::optional<HttpAnswer> ModernHttp::answer() {
  // In 2026-07-28 a client sends neither notifications nor responses over HTTP. Notifications do no harm.
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

ModernHttp::Calling::Calling(const ModernHttp& http)
    : channel(http.exchange_, http.endpoint_.options_.keep_alive),
      call(http.request_, http.caller_, channel, &http.headers_),
      round(call, http.endpoint_.states_) {
  call.set_fields(http.exchange_.request().fields());
  call.set_authorization(authorization_of(http.exchange_.request()));
}

Result<void> ModernHttp::open_round() {
  if (auto opened = calling_->round.open(); !opened) return opened;
  const HttpEndpointOptions& options = endpoint_.options_;
  if (options.others == nullptr || via_ == Via::peer || !calling_->round.went_on()) return {};
  if (ProcessKey holder = endpoint_.service_.holder_of(calling_->call.rounds()); holder != options.session_ids->self())
    elsewhere_ = std::move(holder);
  return {};
}

std::optional<HttpAnswer> ModernHttp::call_at_once() {
  Calling& calling = calling_.emplace(*this);
  if (calling.round.is_long()) return std::nullopt;
  if (auto opened = open_round(); !opened) return refuse(opened.error());
  if (!elsewhere_.value().empty()) return std::nullopt;
  try {
    calling.outcome = endpoint_.service_.answer(calling.call);
    if (!calling.outcome) return std::nullopt;
    calling.round.close(*calling.outcome);
  } catch (...) {
    calling.outcome.emplace(std::unexpected(endpoint_.service_.failed(calling.call.request())));
  }
  if (calling.channel.streaming()) return std::nullopt;
  return whole_answer();
}

HttpAnswer ModernHttp::whole_answer() {
  std::string frames = calling_->channel.take_frames();
  mcp::Outcome& outcome = *calling_->outcome;
  if (auto* const reply = outcome ? std::get_if<mcp::Reply>(&*outcome) : nullptr) {
    if (frames.empty()) return HttpAnswer(request_.id(), *request_.method, std::move(*reply), style());
    return HttpAnswer(std::move(frames), request_.id(), *request_.method, std::move(*reply), style());
  }
  if (!frames.empty()) {
    append_sse_frame(frames, calling_->round.write(outcome, style()));
    return HttpAnswer::events(std::move(frames));
  }
  if (!outcome) {
    const unsigned status = mcp::http_status(outcome.error(), mcp::Era::modern);
    if (status == 403) endpoint_.challenge(exchange_, outcome.error());
    return HttpAnswer::error(status, request_.id(), outcome.error(), mcp::Era::modern);
  }
  return HttpAnswer::json(calling_->round.write(outcome, style()));
}

Task<> ModernHttp::bind_aside() {
  BackgroundThreads* const background = endpoint_.options_.background;
  if (background == nullptr) co_return;
  calling_->round.set_mark(co_await background->run(
      [held = exchange_.hold_body(), arguments = request_.param("arguments")] { return mark_of(arguments); }));
}

Task<> ModernHttp::go_on() {
  auto& [channel, call, round, outcome] = *calling_;
  if (!outcome) {
    const bool is_long = round.is_long();
    if (is_long) {
      if (round.goes_on()) co_await bind_aside();
      if (auto opened = open_round(); !opened) co_return co_await reply(exchange_, refuse(opened.error()));
    }
    // If that process has ended, the service here answers that the state no longer exists.
    const bool is_elsewhere = !elsewhere_.value().empty();
    if (is_elsewhere && co_await endpoint_.pass_on(exchange_, std::move(elsewhere_), request_.id(), mcp::Era::modern))
      co_return;
    // Both may take long, so the grant may have been withdrawn meanwhile.
    if ((is_long || is_elsewhere) && !caller_.holds())
      co_return co_await reply(exchange_, endpoint_.refuse_withdrawn(exchange_, request_.id()));
    try {
      outcome = co_await endpoint_.service_.handle(call);
      if (channel.given_up()) outcome.emplace(std::unexpected(server::given_up(channel.cancellation())));
      const bool asks = *outcome && std::holds_alternative<mcp::InputRequired>(**outcome);
      if (is_long && asks) co_await bind_aside();
      round.close(*outcome);
    } catch (...) {
      outcome.emplace(std::unexpected(endpoint_.service_.failed(call.request())));
    }
  }
  const bool unwanted = channel.cancelled() && !channel.given_up();
  if (channel.streaming()) {
    co_await (unwanted ? channel.close() : channel.finish(round.write(*outcome, style())));
  } else if (!unwanted) {
    const HttpAnswer answer = whole_answer();
    const HttpAnswer::Parts parts = answer.parts();
    if (!exchange_.try_reply(answer.head(), {parts.data(), parts.size()})) co_await exchange_.finish_reply();
  }
}

namespace {

class HttpListenStream final : public ModernHttp::OpenStream {
 public:
  HttpListenStream(net::Exchange& exchange, std::chrono::milliseconds keep_alive, std::shared_ptr<void> place,
                   Caller caller, mcp::SubscriptionFilter accepted, std::string id, mcp::ResultStyle style)
      : exchange_(exchange),
        keep_alive_(keep_alive),
        place_(std::move(place)),
        outbox_(std::make_shared<Outbox>(exchange.executor())),
        stream_(
            std::move(caller), std::move(accepted), std::move(id), style,
            [outbox = outbox_](std::string message) { outbox->push_once(sse_frame(std::move(message))); },
            [outbox = outbox_] { outbox->close(); }) {}

  ~HttpListenStream() override { exchange_.on_drain(nullptr); }
  HttpListenStream(const HttpListenStream&) = delete;
  HttpListenStream& operator=(const HttpListenStream&) = delete;

  void start(Listeners& listeners) {
    registration_ = stream_.start(listeners);
    exchange_.on_disconnect([outbox = outbox_] { outbox->close(); });
    // For a stream that opens after all streams were ended.
    exchange_.on_drain([this] { stream_.end(); });
  }
  void acknowledge(const std::vector<std::string>& without) { stream_.acknowledge(without); }
  Task<> run() override { co_await stream_events(exchange_, outbox_, keep_alive_); }

 private:
  net::Exchange& exchange_;
  const std::chrono::milliseconds keep_alive_;
  const std::shared_ptr<void> place_;
  const std::shared_ptr<Outbox> outbox_;
  ListenStream stream_;
  Listeners::Registration registration_;
};

}  // namespace

// A separate coroutine, so that the coroutine of an open stream needs no memory for an answer.
Task<> ModernHttp::refuse_stream(unsigned status, Error error) {
  co_await reply(exchange_, HttpAnswer::error(status, request_.id(), error, mcp::Era::modern));
}

Task<std::unique_ptr<ModernHttp::OpenStream>> ModernHttp::open_stream() {
  auto wanted = mcp::parse_subscription_filter(request_.param("notifications"));
  if (!wanted) {
    co_await refuse_stream(400, std::move(wanted.error()));
    co_return nullptr;
  }
  auto place = endpoint_.admit_stream(caller_);
  if (!place) {
    co_await refuse_stream(429, std::move(place.error()));
    co_return nullptr;
  }
  const mcp::SubscriptionFilter accepted = endpoint_.service_.accept(*wanted, caller_, nullptr);
  auto stream = std::make_unique<HttpListenStream>(exchange_, endpoint_.options_.keep_alive, std::move(*place), caller_,
                                                   accepted, std::string(request_.id()), style());
  stream->start(endpoint_.listeners_);
  stream->acknowledge(refused_uris(
      co_await endpoint_.service_.follow(caller_, authorization_of(exchange_.request()), nullptr, request_, accepted)));
  co_return stream;
}

}  // namespace proteus::server
