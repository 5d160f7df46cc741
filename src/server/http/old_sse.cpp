#include "server/http/old_sse.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/sealing.hpp"
#include "base/task_group.hpp"
#include "mcp/errors.hpp"
#include "server/core/legacy_answer.hpp"
#include "server/core/line_channel.hpp"
#include "server/http/http_answer.hpp"
#include "server/http/http_endpoint.hpp"

namespace proteus::server {

namespace asio = boost::asio;

namespace {

constexpr std::string_view kStreamParameter = "session=";
// Of one client. Elsewhere each holds a connection, and those are bounded.
constexpr std::size_t kMostRequests = 256;

std::string_view stream_id_of(const net::Request& request) {
  std::string_view query = request.query();
  if (!query.starts_with(kStreamParameter)) return {};
  query.remove_prefix(kStreamParameter.size());
  return query.substr(0, query.find('&'));
}

std::string event(std::string_view name, std::string data) {
  join_lines(data);
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

}  // namespace

// One client. What is not said to be for any thread belongs to that of the stream.
class OldSse::Line final : public SessionLine, public std::enable_shared_from_this<Line> {
 public:
  Line(HttpEndpoint& endpoint, Caller caller, const Executor& executor)
      : endpoint_(endpoint),
        caller_(std::move(caller)),
        executor_(executor),
        outbox_(std::make_shared<Outbox>(executor)),
        running_(executor) {}

  // From any thread.
  void deliver(std::string message) override { outbox_->push_once(event("message", std::move(message))); }
  bool is_open() override { return !outbox_->closed(); }
  void end() override {
    asio::post(executor_, [line = shared_from_this()] {
      line->ending_ = true;
      line->close_if_idle();
    });
  }
  // Messages of one client that come one after the other are taken in that order.
  void take(std::string text, Caller caller) {
    asio::post(executor_, [line = shared_from_this(), text = std::move(text), caller = std::move(caller)]() mutable {
      line->receive(text, std::move(caller));
    });
  }

  const Caller& caller() const { return caller_; }
  const std::shared_ptr<Outbox>& outbox() const { return outbox_; }

  // The client is gone: ends its session, and completes when nothing runs in it any more.
  Task<> close();

 private:
  void receive(std::string& text, Caller caller);
  void initialize(json::Message& message);
  Task<> run(std::string text, Caller caller);
  void send(std::string message) { outbox_->push(event("message", std::move(message))); }
  void close_if_idle() {
    if (ending_ && requests_ == 0) outbox_->close();
  }

  HttpEndpoint& endpoint_;
  const Caller caller_;
  Executor executor_;
  const std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<Session> session_;  // after the handshake
  std::size_t requests_ = 0;
  bool ending_ = false;
  bool closed_ = false;
  TaskGroup running_;
};

void OldSse::Line::receive(std::string& text, Caller caller) {
  if (closed_) return;
  if (session_) session_->renew(caller);
  auto message = json::scan(text, endpoint_.options_.messages);
  if (!message) return;
  if (message->kind == json::MessageKind::notification) {
    if (session_) take_notification(*message, *session_, session_->in_flight(), endpoint_.service_);
    return;
  }
  if (message->kind != json::MessageKind::request) {
    if (session_) session_->client_requests().resolve(*message);
    return;
  }
  if (!session_ && message->method == mcp::to_string(mcp::Method::initialize)) return initialize(*message);
  if (!session_) return send(answer_before_handshake(*message));
  if (requests_ >= kMostRequests) {
    return send(mcp::write_error(message->id, errors::exhausted("too many requests are under way"), mcp::Era::legacy));
  }
  ++requests_;
  running_.spawn("request over HTTP+SSE", run(std::move(text), std::move(caller)));
}

void OldSse::Line::initialize(json::Message& message) {
  auto hello = read_hello(message, caller_);
  if (!hello) return send(mcp::write_error(message.id, hello.error(), mcp::Era::legacy));
  const mcp::Reply reply = initialize_reply(endpoint_.service_, *hello);
  auto session = endpoint_.sessions_.create(std::move(*hello), shared_from_this());
  if (!session) return send(mcp::write_error(message.id, session.error(), mcp::Era::legacy));
  session_ = std::move(*session);
  send(mcp::write_result(message.id, *mcp::find_method(mcp::Era::legacy, mcp::Sender::client, "initialize"), reply,
                         {mcp::Era::legacy, {}, {}}));
}

Task<> OldSse::Line::run(std::string text, Caller caller) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto session = session_;
  auto message = json::scan(text, endpoint_.options_.messages);
  LineChannel channel([this](std::string said) { send(std::move(said)); }, std::make_shared<Cancellation>(executor_));
  std::string answer = co_await answer_request(*message, *session, caller, session->in_flight(), channel,
                                               endpoint_.service_, endpoint_.options_.asking);
  if (!answer.empty()) send(std::move(answer));
  --requests_;
  close_if_idle();
}

Task<> OldSse::Line::close() {
  closed_ = true;
  outbox_->close();
  const auto session = std::exchange(session_, nullptr);
  if (session) {
    endpoint_.sessions_.remove(session->id().value(), caller_);
    session->client_requests().end();
  }
  co_await running_.join();
}

bool OldSse::names_stream(const net::Request& request) { return !stream_id_of(request).empty(); }

std::shared_ptr<OldSse::Line> OldSse::find(std::string_view id, const Caller& caller) {
  const std::scoped_lock lock(mutex_);
  const auto found = lines_.find(std::string(id));
  return found == lines_.end() || found->second->caller() != caller ? nullptr : found->second;
}

Task<> OldSse::open(net::Exchange& exchange, const Caller& caller) {
  const net::Request& request = exchange.request();
  if (!accepts(request, kEventsType)) {
    const Error error = mcp::errors::invalid_request("Accept must list text/event-stream");
    co_return co_await reply(exchange, HttpAnswer::error(406, {}, error, mcp::Era::legacy));
  }
  const auto place = endpoint_.admit_stream(caller);
  if (!place) co_return co_await reply(exchange, HttpAnswer::error(429, {}, place.error(), mcp::Era::legacy));
  const auto line = std::make_shared<Line>(endpoint_, caller, co_await asio::this_coro::executor);
  const SessionIds* const ids = endpoint_.options_.session_ids;
  const std::string id =
      ids == nullptr ? base64_encode(random_bytes(24), Base64::url) : ids->mint(caller, mcp::Version::v2024_11_05, {});
  {
    const std::scoped_lock lock(mutex_);
    lines_.emplace(id, line);
  }
  line->outbox()->push(event("endpoint", fmt::format("{}?{}{}", request.path(), kStreamParameter, id)));
  exchange.on_disconnect([line] { line->outbox()->close(); });
  exchange.on_drain([line] { line->end(); });
  co_await stream_events(exchange, line->outbox(), endpoint_.options_.keep_alive);
  {
    const std::scoped_lock lock(mutex_);
    lines_.erase(id);
  }
  co_await line->close();
}

Task<> OldSse::post(net::Exchange& exchange, const Caller& caller, Via via) {
  const auto refuse = [&exchange](unsigned status, std::string_view id, const Error& error) {
    return reply(exchange, HttpAnswer::error(status, id, error, mcp::Era::legacy));
  };
  const std::string_view id = stream_id_of(exchange.request());
  const auto line = find(id, caller);
  if (!line) {
    ProcessKey elsewhere = endpoint_.maker_of(id, caller, via);
    if (!elsewhere.value().empty() && co_await endpoint_.pass_on(exchange, std::move(elsewhere), {}, mcp::Era::legacy))
      co_return;
  }
  if (!line || !line->is_open()) {
    const Error error = mcp::errors::invalid_request("This stream no longer exists; open a new one with GET");
    co_return co_await refuse(404, {}, error);
  }
  const std::string_view body = exchange.request().body();
  const auto message = json::scan(body, endpoint_.options_.messages);
  if (!message) co_return co_await refuse(400, {}, message.error());
  if (message->kind == json::MessageKind::invalid) {
    const Error error = mcp::errors::invalid_request("Not a JSON-RPC message: " + message->fault);
    co_return co_await refuse(400, message->id, error);
  }
  line->take(std::string(body), caller);
  co_await exchange.reply({.status = 202, .content_type = "text/plain"}, std::string_view("Accepted"));
}

}  // namespace proteus::server
