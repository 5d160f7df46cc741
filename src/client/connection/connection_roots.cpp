// Answers a legacy server's questions for roots before requests that may act on roots (ADR 12), and sends the client's
// notifications.
#include "client/connection/connection.hpp"
#include "client/connection/send_text.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::client {
namespace {

// Limit of notifications under way, in case the server does not accept them.
constexpr std::size_t kMaxNotifying = 64;

Error roots_unknown() {
  return errors::exhausted(
             "it asked which roots the client has, and got no answer; the request was not sent, and can be repeated")
      .with_rpc_code(-32603);
}

}  // namespace

bool Connection::may_act(mcp::Method method) {
  return method == mcp::Method::tools_call || method == mcp::Method::prompts_get ||
         method == mcp::Method::resources_read;
}

bool Connection::awaits_roots(const Negotiated& negotiated, mcp::Method method) const {
  if (options_.owner == Owner::everybody || !options_.handlers.list_roots) return false;
  if (negotiated.era() != mcp::Era::legacy || !may_act(method)) return false;
  return negotiated.generation > greeted_ || questions_.open_roots() > 0 || questions_.roots_missed();
}

Task<Result<>> Connection::await_roots(Negotiated negotiated, const RequestOptions& options) {
  // Stands still while a caller is asked; see InFlightTable::Hold.
  Deadline deadline(executor_, options_.timeout, {});
  const InFlightTable::Entry entry(requests_, {++last_id_, deadline, options, false});
  questions_.somebody_came();
  co_return co_await before(deadline, settle_roots(negotiated.generation), "asking the client for its roots");
}

Task<Result<>> Connection::settle_roots(std::uint64_t generation) {
  if (questions_.roots_missed()) {
    // The question ended unanswered before any request waited for it. In a new session, this request's caller is asked.
    if (!give_up_session(generation)) co_return std::unexpected(roots_unknown());
    co_return Result<>{};
  }
  while (greeting_)
    co_await greeting_ended_.wait();
  if (generation > greeted_) {
    greeting_ = true;
    const std::shared_ptr<void> end(nullptr, [this](void*) {
      greeting_ = false;
      greeting_ended_.ring();
    });
    // Most servers ask for roots as soon as they know that the session has begun, or that roots have changed. Questions
    // that they send before they answer the ping arrive before its answer. If the ping gets no answer, the request
    // waits no longer.
    const std::uint64_t told = roots_told_;
    co_await ping_server();
    // Without this, a server that ends its session because of the ping would get one session after the other.
    if (told == roots_told_) greeted_ = link_.standing() != nullptr ? link_.latest() : link_.latest() + 1;
  }
  co_await questions_.wait_for_roots();
  if (!questions_.roots_missed()) co_return Result<>{};
  (void)give_up_session(generation);
  co_return std::unexpected(roots_unknown());
}

// Any answer to the ping proves that the server has read all earlier messages.
Task<> Connection::ping_server() {
  RequestOptions options;
  options.timeout = options_.probe_timeout;
  (void)co_await request(mcp::Method::ping, {}, std::move(options));
}

// Without an answer, the server uses directories of its own choice, which the client may not allow.
bool Connection::give_up_session(std::uint64_t generation) {
  if (requests_.any_asked_sent()) return false;
  questions_.forget_roots();
  link_.renew(generation);
  return true;
}

void Connection::notify(std::string notification) {
  const Negotiated* const negotiated = link_.standing();
  if (negotiated == nullptr || negotiated->era() != mcp::Era::legacy) return;
  if (notifying_ >= kMaxNotifying) return options_.log->debug("a notification is dropped: the server takes none");
  tasks_.spawn("notifying the server", send_notification(negotiated->transport, std::move(notification)));
}

void Connection::notify_roots_changed(std::string notification) {
  if (!options_.handlers.capabilities().roots_list_changed) return;
  greeted_ = 0;
  ++roots_told_;
  questions_.set_roots_due(true);
  notify(std::move(notification));
}

Task<> Connection::send_notification(std::shared_ptr<Transport> transport, std::string text) {
  ++notifying_;
  const std::shared_ptr<void> end(nullptr, [this](void*) { --notifying_; });
  const auto sent = co_await send_text(std::move(transport), std::move(text), options_.timeout);
  if (!sent) options_.log->debug("a notification did not reach the server: {}", sent.error().message());
}

}  // namespace proteus::client
