#include "server/http/old_sse.hpp"

#include <array>
#include <cstdint>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "base/secrets/sealing.hpp"
#include "base/secrets/secret.hpp"
#include "base/tasks/task_group.hpp"
#include "base/text/base64.hpp"
#include "mcp/errors.hpp"
#include "server/core/legacy_answer.hpp"
#include "server/core/line_channel.hpp"
#include "server/http/http_answer.hpp"
#include "server/http/http_endpoint.hpp"

namespace proteus::server {

namespace asio = boost::asio;

namespace {

constexpr std::string_view kStreamParameter = "session=";
// Limits for one client, for its requests and again for what else it posts. On other transports each running request
// holds a connection, whose memory is limited.
constexpr std::size_t kMostRequests = 256;
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;

std::string_view stream_id_of(const net::Request& request) {
  std::string_view query = request.query();
  if (!query.starts_with(kStreamParameter)) return {};
  query.remove_prefix(kStreamParameter.size());
  return query.substr(0, query.find('&'));
}

// Spells out the default type, `message`, which some clients look for.
std::string event(std::string_view name, std::string data) {
  join_lines(data);
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

// What one client has posted that is not done yet. A running request may wait for an answer of the client, so answers
// and notifications have a part of their own, which no request can fill. Thread-safe.
class Load {
 public:
  enum Part : std::uint8_t { requests, others };

  // Returns false if it is too much. A message of any size is accepted if its part has nothing else.
  bool add(std::size_t bytes, Part part) {
    const std::scoped_lock lock(mutex_);
    Waiting& waiting = parts_.at(part);
    const bool fits = waiting.messages < kMostRequests && waiting.bytes + bytes <= kMostBytes;
    if (waiting.messages > 0 && !fits) return false;
    ++waiting.messages;
    waiting.bytes += bytes;
    return true;
  }
  void remove(std::size_t bytes, Part part) {
    const std::scoped_lock lock(mutex_);
    Waiting& waiting = parts_.at(part);
    --waiting.messages;
    waiting.bytes -= bytes;
  }

 private:
  struct Waiting {
    std::size_t messages = 0;
    std::size_t bytes = 0;
  };

  std::mutex mutex_;
  std::array<Waiting, 2> parts_;
};

}  // namespace

// A message that a client has posted, with the credentials of its request. Belongs to the load of its stream.
struct OldSse::Posted {
  Posted(std::string body, Caller sender, Secret credentials)
      : text(std::move(body)), caller(std::move(sender)), authorization(std::move(credentials)) {}
  ~Posted() {
    if (load) load->remove(text.size(), part);
  }
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;

  bool add_to(std::shared_ptr<Load> whole) {
    part = message.kind == json::MessageKind::request ? Load::requests : Load::others;
    if (!whole->add(text.size(), part)) return false;
    load = std::move(whole);
    return true;
  }

  const std::string text;
  const Caller caller;
  const Secret authorization;
  json::Message message;  // refers to `text`
  std::shared_ptr<Load> load;
  Load::Part part = Load::requests;
};

// The stream and the session of one client. A listener itself until it has a session, so that the stream ends with its
// credentials. Belongs to the thread of the stream, except as noted.
class OldSse::Line final : public SessionLine, public Listener, public std::enable_shared_from_this<Line> {
 public:
  Line(HttpEndpoint& endpoint, Caller caller, const Executor& executor)
      : endpoint_(endpoint),
        caller_(std::make_shared<const Caller>(std::move(caller))),
        executor_(executor),
        outbox_(std::make_shared<Outbox>(executor)),
        running_(executor) {}

  // Ends the stream with its credentials from now on.
  void start() {
    registration_ = endpoint_.listeners_.add(*this);
    if (!caller_->holds()) end();
  }

  // Thread-safe, like everything up to `load`.
  void deliver(std::string message) override { send(std::move(message)); }
  void announce(std::string message) override { outbox_->push_once(event("message", std::move(message))); }
  bool is_open() override { return !outbox_->closed(); }
  void end() override {
    asio::post(executor_, [line = shared_from_this()] {
      line->ending_ = true;
      line->close_if_idle();
    });
  }
  std::shared_ptr<const Caller> caller() const override { return caller_; }
  void list_changed(mcp::Method) override {}
  void resource_updated(std::string_view) override {}
  // Takes the messages of a client in the order of arrival.
  void take(std::shared_ptr<Posted> posted) {
    asio::post(executor_,
               [line = shared_from_this(), posted = std::move(posted)]() mutable { line->receive(std::move(posted)); });
  }
  const std::shared_ptr<Load>& load() const { return load_; }

  const std::shared_ptr<Outbox>& outbox() const { return outbox_; }

  // Ends the session of a client that is gone. Completes when none of its requests runs any more.
  Task<> close();

 private:
  void receive(std::shared_ptr<Posted> posted);
  void initialize(json::Message& message);
  Task<> run(std::shared_ptr<Posted> posted);
  void send(std::string message) { outbox_->push(event("message", std::move(message))); }
  void close_if_idle() {
    if (ending_ && requests_ == 0) outbox_->close();
  }

  HttpEndpoint& endpoint_;
  const std::shared_ptr<const Caller> caller_;
  Executor executor_;
  const std::shared_ptr<Outbox> outbox_;
  const std::shared_ptr<Load> load_ = std::make_shared<Load>();
  std::shared_ptr<Session> session_;  // null before the handshake
  std::size_t requests_ = 0;
  bool ending_ = false;
  bool closed_ = false;
  TaskGroup running_;
  Listeners::Registration registration_;  // while there is no session
};

void OldSse::Line::receive(std::shared_ptr<Posted> posted) {
  if (closed_) return;
  if (session_) session_->renew(posted->caller);
  json::Message& message = posted->message;
  if (message.kind == json::MessageKind::notification) {
    if (session_) take_notification(message, *session_, session_->in_flight(), endpoint_.service_);
    return;
  }
  if (message.kind != json::MessageKind::request) {
    if (session_) session_->client_requests().resolve(message);
    return;
  }
  if (!session_ && message.method == mcp::to_string(mcp::Method::initialize)) return initialize(message);
  if (!session_) return send(answer_before_handshake(message));
  ++requests_;
  running_.spawn("request over HTTP+SSE", run(std::move(posted)));
}

void OldSse::Line::initialize(json::Message& message) {
  auto hello = read_hello(message, *caller_);
  if (!hello) return send(mcp::write_error(message.id, hello.error(), mcp::Era::legacy));
  std::string welcome = answer_initialize(message.id, *hello, endpoint_.service_);
  auto session = endpoint_.sessions_.create(std::move(*hello), shared_from_this());
  if (!session) return send(mcp::write_error(message.id, session.error(), mcp::Era::legacy));
  session_ = std::move(*session);
  registration_.reset();
  send(std::move(welcome));
}

Task<> OldSse::Line::run(std::shared_ptr<Posted> posted) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto session = session_;
  LineChannel channel([this](std::string said) { send(std::move(said)); }, std::make_shared<Cancellation>(executor_));
  std::string answer =
      co_await answer_request(posted->message, *session, posted->caller, posted->authorization.reveal(),
                              session->in_flight(), channel, endpoint_.service_, endpoint_.options_.asking);
  posted.reset();
  if (!answer.empty()) send(std::move(answer));
  --requests_;
  close_if_idle();
}

Task<> OldSse::Line::close() {
  closed_ = true;
  registration_.reset();
  outbox_->close();
  const auto session = std::exchange(session_, nullptr);
  if (session) {
    endpoint_.sessions_.remove(session->id().value(), *caller_);
    session->client_requests().end();
  }
  co_await running_.join();
}

bool OldSse::names_stream(const net::Request& request) { return !stream_id_of(request).empty(); }

std::shared_ptr<OldSse::Line> OldSse::find(std::string_view id, const Caller& caller) {
  const std::scoped_lock lock(mutex_);
  const auto found = lines_.find(std::string(id));
  return found == lines_.end() || *found->second->caller() != caller ? nullptr : found->second;
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
  line->start();
  co_await stream_events(exchange, line->outbox(), endpoint_.options_.keep_alive);
  {
    const std::scoped_lock lock(mutex_);
    lines_.erase(id);
  }
  co_await line->close();
}

Task<Result<void>> OldSse::scan(std::shared_ptr<Posted> posted) const {
  const auto work = [posted, limits = endpoint_.options_.messages] {
    return json::scan_into(posted->message, posted->text, limits);
  };
  BackgroundThreads* const background = endpoint_.options_.background;
  if (background == nullptr || posted->text.size() <= kLongMessage) co_return work();
  co_return co_await background->run(work);
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
  auto posted = std::make_shared<Posted>(std::string(exchange.request().body()), caller,
                                         Secret(std::string(authorization_of(exchange.request()))));
  const auto scanned = co_await scan(posted);
  const json::Message& message = posted->message;
  // Reading and scanning may take long, so the grant may have been withdrawn meanwhile.
  if (!caller.holds()) co_return co_await reply(exchange, endpoint_.refuse_withdrawn(exchange, message.id));
  if (!scanned) co_return co_await refuse(400, {}, scanned.error());
  if (message.kind == json::MessageKind::invalid) {
    const Error error = mcp::errors::invalid_request("Not a JSON-RPC message: " + message.fault);
    co_return co_await refuse(400, message.id, error);
  }
  if (!posted->add_to(line->load())) {
    co_return co_await refuse(429, message.id, errors::exhausted("too many requests are under way"));
  }
  line->take(std::move(posted));
  co_await exchange.reply({.status = 202, .content_type = "text/plain"}, std::string_view("Accepted"));
}

}  // namespace proteus::server
