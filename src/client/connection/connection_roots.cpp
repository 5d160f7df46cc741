// What a legacy server must know of its client before it is asked for anything, and what the client tells it.
#include "base/log.hpp"
#include "client/connection/connection.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::client {
namespace {

// Of notifications on their way to a server that does not take them.
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
  return negotiated.generation != greeted_ || questions_.open_roots() > 0 || questions_.roots_missed();
}

Task<Result<>> Connection::await_roots(Negotiated negotiated, const RequestOptions& options) {
  // Stands still while somebody is asked.
  Deadline deadline(executor_, options_.timeout, {});
  const InFlightTable::Entry entry(requests_, {++last_id_, deadline, options, false});
  questions_.somebody_came();
  co_return co_await before(deadline, settle_roots(negotiated.generation), "asking the client for its roots");
}

Task<Result<>> Connection::settle_roots(std::uint64_t generation) {
  if (questions_.roots_missed()) {
    // Before anybody waited. In another session there is somebody to ask.
    if (!give_up_session(generation)) co_return std::unexpected(roots_unknown());
    co_return Result<>{};
  }
  while (greeting_)
    co_await greeting_ended_.wait();
  if (generation != greeted_) {
    greeting_ = true;
    const std::shared_ptr<void> end(nullptr, [this](void*) {
      greeting_ = false;
      greeting_ended_.ring();
    });
    // Most servers ask as soon as they are told that the session has begun, or that roots have changed; what they asked
    // before they answer this has arrived before the answer. One that has no answer is not waited for any longer.
    const std::uint64_t told = roots_told_;
    co_await ping_server();
    if (told == roots_told_) greeted_ = generation;
  }
  co_await questions_.wait_for_roots();
  if (!questions_.roots_missed()) co_return Result<>{};
  (void)give_up_session(generation);
  co_return std::unexpected(roots_unknown());
}

// Whatever it answers, it has read what came before.
Task<> Connection::ping_server() {
  RequestOptions options;
  options.timeout = options_.probe_timeout;
  (void)co_await request(mcp::Method::ping, {}, std::move(options));
}

// Its server goes by what it knows itself, which may be more than the client allows.
bool Connection::give_up_session(std::uint64_t generation) {
  if (requests_.any_asked_sent()) return false;
  questions_.forget_roots();
  link_.renew(generation);
  return true;
}

void Connection::notify(std::string notification) {
  const Negotiated* const negotiated = link_.standing();
  if (negotiated == nullptr || negotiated->era() != mcp::Era::legacy) return;
  if (notifying_ >= kMaxNotifying) return log::debug("a notification is dropped: the server takes none");
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
  Outgoing message;
  message.parts.emplace_back(text);
  Deadline deadline(executor_, options_.timeout, {});
  const auto sent = co_await before(deadline, transport->send(message), "a notification");
  if (!sent) log::debug("a notification did not reach the server: {}", sent.error().message());
}

}  // namespace proteus::client
