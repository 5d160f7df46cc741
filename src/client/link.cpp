#include "client/link.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "client/compose.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::client {

using Kind = ProbeVerdict::Kind;

// Holds the others back while one makes a footing, however that ends.
class Link::Attempt {
 public:
  explicit Attempt(Link& link) : link_(link) { link_.busy_ = true; }
  ~Attempt() {
    link_.busy_ = false;
    link_.idle_.ring();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

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
      closing_(executor),
      idle_(executor) {
  const KnownServer& known = options.known;
  if (!known.facts || options.era) return;
  known_era_ = known.facts->era();
  if (known_era_ == mcp::Era::modern) known_modern_ = known.facts;
  if (options.transport == TransportChoice::automatic) known_old_sse_ = known.old_sse;
}

Task<Result<Footing>> Link::establish() {
  while (busy_)
    co_await idle_.wait();
  if (closed_) co_return std::unexpected(errors::cancelled("the connection"));
  if (footing_ && footing_->transport->usable()) co_return *footing_;
  const Attempt hold(*this);
  footing_.reset();
  if (transport_ && !transport_->usable()) co_await drop_transport();
  auto made = co_await attempt();
  if (!made) {
    co_await drop_transport();
    co_return std::unexpected(std::move(made.error()));
  }
  co_return *footing_;
}

bool Link::session_lost(std::uint64_t generation) {
  if (!footing_ || footing_->generation != generation) return false;
  transport_->forget_session();
  footing_.reset();
  return true;
}

bool Link::era_doubtful(std::uint64_t generation) {
  if (!session_lost(generation)) return false;
  log::info("the server is not of the era it was taken for; finding out anew");
  forget();
  return true;
}

void Link::forget() {
  known_era_ = options_.era;
  known_old_sse_ = options_.transport == TransportChoice::old_sse;
  known_modern_.reset();
}

Task<> Link::close() {
  closed_ = true;
  footing_.reset();
  // What is under way fails by this, and an attempt ends.
  if (handshake_ != nullptr) handshake_->expire();
  if (transport_) close_transport();
  while (busy_)
    co_await idle_.wait();
  co_await drop_transport();
}

// Whoever waits here may be cancelled; the closing goes on, and `close` waits for it.
Task<> Link::drop_transport() {
  if (transport_) {
    close_transport();
    transport_.reset();
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
  auto started = co_await before(deadline, transport_->start(), "connecting");
  if (!started) co_await drop_transport();
  co_return started;
}

Task<Result<>> Link::attempt() {
  const bool remembered = (known_era_ && !options_.era) || known_old_sse_;
  auto made = co_await attempt_as_known();
  // What was remembered proved wrong, and is forgotten: find out anew.
  if (!made && remembered && !known_era_ && !known_old_sse_) made = co_await attempt_as_known();
  co_return made;
}

Task<Result<>> Link::attempt_as_known() {
  if (maker_.runs_program()) return attempt_program();
  return known_old_sse_ ? attempt_old_sse() : attempt_http();
}

// 2026-07-28, "stdio", "Backward Compatibility".
Task<Result<>> Link::attempt_program() {
  if (!transport_) {
    if (auto started = co_await start(maker_.program()); !started) co_return started;
  }
  bool silent = false;
  if (known_era_ != mcp::Era::legacy) {
    auto verdict = co_await probe(std::min(options_.probe_timeout, options_.timeout));
    if (verdict && verdict->kind == Kind::modern) co_return adopt_modern(std::move(*verdict));
    if (verdict && verdict->kind == Kind::fault) co_return std::unexpected(std::move(verdict->error));
    if (options_.era) {
      co_return std::unexpected(verdict ? errors::unsupported("the program does not answer server/discover")
                                        : std::move(verdict.error()));
    }
    silent = !verdict && verdict.error().kind() == ErrorKind::timeout;
    // There are servers that exit at the first thing they do not know.
    if (!transport_->usable()) {
      if (auto started = co_await start(maker_.program()); !started) co_return started;
    }
  }
  auto reply = co_await initialize();
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  auto adopted = co_await adopt_legacy(*reply);
  if (adopted || !silent || !transport_ || !transport_->usable()) co_return adopted;
  // It was silent because it was still starting, and has no handshake.
  auto verdict = co_await probe(options_.timeout);
  if (verdict && verdict->kind == Kind::modern) co_return adopt_modern(std::move(*verdict));
  co_return adopted;
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
  if (known_era_ != mcp::Era::legacy) {
    auto verdict = co_await probe(options_.timeout);
    if (!verdict) co_return std::unexpected(std::move(verdict.error()));
    if (verdict->kind == Kind::modern) co_return adopt_modern(std::move(*verdict));
    if (verdict->kind == Kind::fault) co_return std::unexpected(std::move(verdict->error));
    if (options_.era) co_return std::unexpected(errors::unsupported("the server does not answer server/discover"));
  }
  auto reply = co_await initialize();
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  if (options_.transport == TransportChoice::automatic && suggests_old_transport(*reply)) {
    auto old = co_await attempt_old_sse();
    if (old) co_return old;
    log::debug("nor is it a server of the HTTP+SSE transport: {}", old.error().message());
    forget();
    co_return std::unexpected(reply_error(*reply));
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
  for (int asked = 0;; ++asked) {
    auto reply = co_await handshake_request(mcp::Method::discover, {}, mcp::Era::modern, timeout);
    if (!reply) co_return std::unexpected(std::move(reply.error()));
    ProbeVerdict verdict = judge_probe(*reply);
    if (verdict.kind != Kind::again) co_return verdict;
    if (asked > 0) {
      verdict.kind = Kind::fault;
      co_return verdict;
    }
  }
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
    // A server that has no `initialize` is of the other era, whatever error it says so with.
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
  Deadline deadline(executor_, options_.timeout, {});
  const Noted noted(handshake_, deadline);
  auto sent = co_await before(deadline, transport_->send(initialized), "notifications/initialized");
  if (!sent) co_return std::unexpected(std::move(sent.error()));
  known_era_ = mcp::Era::legacy;
  stand_on(std::move(*facts));
  co_return Result<>{};
}

Task<Result<Reply>> Link::handshake_request(mcp::Method method, Params params, mcp::Era era,
                                            std::chrono::milliseconds timeout) {
  const std::string capabilities = mcp::write_client_capabilities(options_.handlers.capabilities());
  RequestFrame frame;
  frame.era = era;
  frame.id = ++last_id_;
  frame.method = method;
  frame.client_info = options_.client_info;
  frame.client_capabilities = capabilities;
  Composed composed(frame, params);
  if (era == mcp::Era::modern && transport_->has_headers()) composed.add_standard_headers({});
  const auto transport = transport_;
  Deadline deadline(executor_, timeout, {});
  const Noted noted(handshake_, deadline);
  co_return co_await before(deadline, transport->exchange(composed.outgoing()), mcp::to_string(method));
}

void Link::stand_on(ServerFacts facts) {
  footing_ = Footing{transport_, std::make_shared<const ServerFacts>(std::move(facts)), ++generation_};
}

}  // namespace proteus::client
