#include "client/connection/link.hpp"

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "client/connection/watched_authorizer.hpp"
#include "client/message/compose.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::client {

using Kind = ProbeVerdict::Kind;

namespace {

// Returns the error with text added to its message.
Error adding(const Error& error, std::string_view more) {
  return Error(error.kind(), error.message() + std::string(more))
      .with_rpc_code(error.rpc_code())
      .with_data(error.data())
      .with_retry_after(error.retry_after());
}

}  // namespace

// What an attempt to connect, or to rest, leaves to those who waited for it.
struct Link::Outcome {
  std::shared_ptr<Authorizer> authorizer;      // null for the connection's credentials
  std::shared_ptr<WatchedAuthorizer> watched;  // those, or the connection's; null if there are none
  std::optional<Error> failure = {};

  // Returns whether a waiter with these credentials would fail, too. The text of an authorizer's error is meant for its
  // own caller.
  bool fails(const std::shared_ptr<Authorizer>& with) const {
    if (!failure || failure->kind() == ErrorKind::cancelled) return false;
    if (with == authorizer) return true;
    const bool of_server = !watched || !watched->has_failed();
    return of_server && (failure->kind() == ErrorKind::unreachable || failure->kind() == ErrorKind::timeout);
  }
};

// Makes concurrent callers of `establish` wait while one of them connects.
class Link::Attempt {
 public:
  explicit Attempt(Link& link, std::shared_ptr<Authorizer> authorizer = nullptr) : link_(link) {
    auto used = authorizer ? authorizer : link.options_.authorizer;
    link_.under_way_ = std::make_shared<Outcome>(std::move(authorizer),
                                                 used ? std::make_shared<WatchedAuthorizer>(std::move(used)) : nullptr);
  }
  ~Attempt() {
    link_.under_way_.reset();
    link_.idle_.ring();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void failed(const Error& error) { link_.under_way_->failure = error; }

 private:
  Link& link_;
};

Link::Link(const Executor& executor, TransportMaker& maker, const Options& options, RequestId& last_id)
    : executor_(executor),
      maker_(maker),
      options_(options),
      last_id_(last_id),
      known_era_(options.era),
      known_old_sse_(options.transport == TransportChoice::old_sse),
      probing_(executor),
      closing_(executor),
      idle_(executor) {
  const KnownServer& known = options.known;
  if (!known.facts) return;
  if (options.transport == TransportChoice::automatic) known_old_sse_ = known.old_sse;
  if (options.era) return;
  known_era_ = known.facts->era();
  if (known_era_ == mcp::Era::modern) known_modern_ = known.facts;
}

Task<Result<Negotiated>> Link::establish(std::shared_ptr<Authorizer> authorizer) {
  while (const auto awaited = under_way_) {
    co_await idle_.wait();
    if (awaited->fails(authorizer)) co_return std::unexpected(*awaited->failure);
  }
  if (closed_) co_return std::unexpected(errors::cancelled("the connection"));
  if (negotiated_ && negotiated_->transport->usable()) co_return *negotiated_;
  Attempt hold(*this, std::move(authorizer));
  negotiated_.reset();
  if (transport_ && !transport_->usable()) co_await drop_transport();
  auto made = co_await attempt();
  if (!made) {
    co_await drop_transport();
    hold.failed(made.error());
    co_return std::unexpected(std::move(made.error()));
  }
  co_return *negotiated_;
}

bool Link::session_lost(std::uint64_t generation) {
  if (!negotiated_ || negotiated_->generation != generation) return false;
  transport_->forget_session();
  negotiated_.reset();
  return true;
}

bool Link::era_doubtful(std::uint64_t generation) {
  if (!session_lost(generation)) return false;
  options_.log->note(log::Level::info, "does not speak the detected era; detecting it again");
  forget();
  return true;
}

void Link::renew(std::uint64_t generation) {
  if (!negotiated_ || negotiated_->generation != generation) return;
  negotiated_.reset();
  close_transport();
  transport_.reset();
}

void Link::forget() {
  known_era_ = options_.era;
  known_old_sse_ = options_.transport == TransportChoice::old_sse;
  known_modern_.reset();
}

void Link::leave_session() {
  negotiated_.reset();
  if (transport_) transport_->forget_session();
}

Task<> Link::rest() {
  while (is_busy())
    co_await idle_.wait();
  if (closed_) co_return;
  const Attempt hold(*this);
  negotiated_.reset();
  co_await drop_transport();
}

Task<> Link::close() {
  closed_ = true;
  negotiated_.reset();
  // Makes exchanges under way fail, and a running attempt end.
  if (handshake_ != nullptr) handshake_->expire();
  if (transport_) close_transport();
  while (is_busy())
    co_await idle_.wait();
  co_await drop_transport();
  co_await probing_.join();
}

// The waiting coroutine may be cancelled; closing continues, and `close` waits for its end.
Task<> Link::drop_transport() {
  if (transport_) {
    close_transport();
    transport_.reset();
    probe_.reset();
  }
  co_await closing_.join();
}

void Link::close_transport() {
  const auto close = [](std::shared_ptr<Transport> transport) -> Task<> { co_await transport->close(); };
  closing_.spawn("closing a transport", close(transport_));
}

Task<Result<>> Link::start(std::shared_ptr<Transport> transport) {
  co_await drop_transport();
  if (closed_) co_return std::unexpected(errors::cancelled("the connection"));
  transport_ = std::move(transport);
  Deadline deadline(executor_, options_.connect_timeout, {});
  const Noted noted(handshake_, deadline);
  Result<> started;
  try {
    started = co_await before(deadline, transport_->start(), "connecting");
  } catch (...) {
    // The caller was cancelled. The next one needs a transport that was started.
    close_transport();
    transport_.reset();
    throw;
  }
  if (!started) co_await drop_transport();
  co_return started;
}

Task<Result<>> Link::attempt() {
  const bool remembered = (known_era_ && !options_.era) || known_old_sse_;
  auto made = co_await attempt_as_known();
  // The remembered era or transport proved wrong and was forgotten; find out again.
  if (!made && remembered && known_era_ == options_.era && !known_old_sse_) made = co_await attempt_as_known();
  co_return made;
}

Task<Result<>> Link::attempt_as_known() {
  if (maker_.runs_program()) return attempt_program();
  return known_old_sse_ ? attempt_old_sse() : attempt_http();
}

// 2026-07-28, "Streamable HTTP", "Backward Compatibility".
Task<Result<>> Link::attempt_http() {
  if (!transport_) {
    if (auto started = co_await start(maker_.streamable_http()); !started) co_return started;
  }
  if (const auto known = known_modern_) {
    transport_->speak(mcp::kModern);
    stand_on(*known);
    co_return Result<>{};
  }
  if (resume()) co_return Result<>{};
  if (known_era_ != mcp::Era::legacy) {
    auto verdict = co_await probe(options_.timeout);
    if (!verdict) co_return std::unexpected(std::move(verdict.error()));
    if (verdict->kind == Kind::modern) co_return adopt_modern(std::move(*verdict));
    if (verdict->kind == Kind::fault) co_return std::unexpected(std::move(verdict->error));
    if (options_.era) co_return std::unexpected(errors::unsupported("the server does not answer server/discover"));
  }
  auto reply = co_await initialize();
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  if (suggests_old_transport(*reply)) {
    if (options_.transport == TransportChoice::streamable_http) {
      co_return std::unexpected(adding(reply_error(*reply), " (only Streamable HTTP was tried, as `transport` says)"));
    }
    auto old = co_await attempt_old_sse();
    if (old) co_return old;
    forget();
    co_return std::unexpected(
        adding(reply_error(*reply),
               fmt::format(" (Streamable HTTP was tried, and then HTTP+SSE: {})", old.error().message())));
  }
  co_return co_await adopt_legacy(*reply);
}

Task<Result<>> Link::attempt_old_sse() {
  const bool forced = options_.transport == TransportChoice::old_sse;
  if (auto started = co_await start(maker_.old_sse()); !started) {
    const bool reached = started.error().kind() != ErrorKind::unreachable;
    if (!forced && known_old_sse_ && reached) forget();
    co_return started;
  }
  auto reply = co_await initialize();
  if (!reply) {
    co_await drop_transport();
    co_return std::unexpected(std::move(reply.error()));
  }
  auto adopted = co_await adopt_legacy(*reply);
  known_old_sse_ = adopted.has_value();
  co_return adopted;
}

Task<Result<ProbeVerdict>> Link::probe(std::chrono::milliseconds timeout) {
  return ask_era([this, timeout] { return handshake_request(mcp::Method::discover, {}, mcp::Era::modern, timeout); });
}

Task<Result<ProbeVerdict>> Link::ask_era(std::function<Task<Result<Reply>>()> ask) {
  for (bool asked = false;; asked = true) {
    const auto reply = co_await ask();
    if (!reply) co_return std::unexpected(reply.error());
    ProbeVerdict verdict = judge_probe(*reply);
    if (verdict.kind == Kind::again && !asked) continue;
    if (verdict.kind == Kind::again) verdict.kind = Kind::fault;
    co_return verdict;
  }
}

bool Link::resume() {
  if (!options_.resumed || std::exchange(has_resumed_, true)) return false;
  const auto& [session, capabilities] = *options_.resumed;
  if (mcp::era_of(session.version) != mcp::Era::legacy || !transport_->resume_session(session)) return false;
  known_era_ = mcp::Era::legacy;
  ServerFacts facts;
  facts.version = session.version;
  facts.capabilities = capabilities;
  facts.offers = mcp::parse_server_capabilities(capabilities);
  facts.offers.tasks = facts.offers.tasks && mcp::has_tasks(session.version);
  facts.offers.task_extension = false;
  facts.keeps_session = true;
  stand_on(std::move(facts));
  return true;
}

Result<> Link::adopt_modern(ProbeVerdict verdict) {
  known_era_ = mcp::Era::modern;
  transport_->speak(mcp::kModern);
  stand_on(std::move(verdict.facts));
  return {};
}

Task<Result<Reply>> Link::initialize() {
  transport_->forget_session();
  Params params;
  params.members.add(
      fmt::format(R"("protocolVersion":"{}","capabilities":{},"clientInfo":{})", mcp::to_string(mcp::kNewestLegacy),
                  mcp::write_client_capabilities(options_.handlers.capabilities()), options_.client_info));
  return handshake_request(mcp::Method::initialize, std::move(params), mcp::Era::legacy, options_.timeout);
}

Task<Result<>> Link::adopt_legacy(const Reply& reply) {
  if (!reply.message || reply.message->message().kind != json::MessageKind::result || reply.status > 299) {
    // A server that does not know `initialize` is not legacy, whatever error it sends.
    if (reply.message && reply.status < 500) forget();
    co_return std::unexpected(reply_error(reply));
  }
  auto facts = read_initialize(*reply.message);
  if (!facts) {
    co_await drop_transport();
    co_return std::unexpected(std::move(facts.error()));
  }
  transport_->speak(facts->version);
  const std::string text = mcp::write_notification(mcp::to_string(mcp::Method::initialized), {});
  Outgoing initialized;
  initialized.method = mcp::Method::initialized;
  initialized.parts.emplace_back(text);
  initialized.authorizer = authorizer().get();
  Deadline deadline(executor_, options_.timeout, {});
  const Noted noted(handshake_, deadline);
  auto sent = co_await before(deadline, transport_->send(initialized), "notifications/initialized");
  if (!sent) co_return std::unexpected(std::move(sent.error()));
  known_era_ = mcp::Era::legacy;
  facts->keeps_session = transport_->keeps_session();
  stand_on(std::move(*facts));
  co_return Result<>{};
}

Task<Result<Reply>> Link::handshake_request(mcp::Method method, Params params, mcp::Era era,
                                            std::chrono::milliseconds timeout) {
  Deadline deadline(executor_, timeout, {});
  const Noted noted(handshake_, deadline);
  co_return co_await before(deadline, exchange(transport_, method, std::move(params), era), mcp::to_string(method));
}

Task<Result<Reply>> Link::exchange(std::shared_ptr<Transport> transport, mcp::Method method, Params params,
                                   mcp::Era era) {
  const std::string capabilities = mcp::write_client_capabilities(options_.handlers.capabilities());
  const std::string meta = modern_meta(options_.client_info);
  RequestFrame frame;
  frame.era = era;
  frame.id = ++last_id_;
  frame.method = method;
  frame.modern_meta = meta;
  frame.client_capabilities = capabilities;
  Composed composed(frame, params);
  if (era == mcp::Era::modern && transport->has_headers()) composed.add_standard_headers({});
  const auto authorizer = this->authorizer();
  composed.set_authorizer(authorizer.get(), 0);
  co_return co_await transport->exchange(composed.outgoing());
}

std::shared_ptr<Authorizer> Link::authorizer() const { return under_way_ ? under_way_->watched : nullptr; }

void Link::stand_on(ServerFacts facts) {
  negotiated_ = Negotiated{transport_, nullptr, ++generation_};
  learn(std::move(facts));
}

void Link::learn(ServerFacts facts) {
  for (const std::string& what : facts.left_out)
    options_.log->warning("{}", what);
  negotiated_->facts = std::make_shared<const ServerFacts>(std::move(facts));
}

}  // namespace proteus::client
