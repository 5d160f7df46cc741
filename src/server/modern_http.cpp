#include "server/modern_http.hpp"

#include <optional>

#include <boost/asio/this_coro.hpp>

#include "base/task_group.hpp"
#include "mcp/errors.hpp"
#include "server/http_answers.hpp"
#include "server/listen_stream.hpp"
#include "server/modern_answer.hpp"

namespace proteus::server {
namespace {

// The answer to a request: a single JSON object, unless something is sent in front of it, which makes it a
// stream.
class ModernChannel final : public CallChannel {
 public:
  ModernChannel(net::Exchange& exchange, const Executor& executor, std::chrono::milliseconds keep_alive)
      : exchange_(exchange), executor_(executor), keep_alive_(keep_alive) {}

  void send(std::string message) override {
    if (!outbox_) {
      outbox_ = std::make_shared<Outbox>(executor_);
      group_.emplace(executor_);
      group_->spawn("answer stream", pump(exchange_, outbox_, keep_alive_));
    }
    outbox_->push(sse_frame(message));
  }

  void release(std::chrono::milliseconds) override {}

  // A client that closes its connection has cancelled.
  Cancellation& cancellation() override {
    if (!cancellation_) {
      cancellation_ = std::make_shared<Cancellation>(executor_);
      exchange_.on_disconnect([cancellation = cancellation_] { cancellation->fire(); });
    }
    return *cancellation_;
  }

  bool streaming() const { return outbox_ != nullptr; }
  bool cancelled() const { return cancellation_ && cancellation_->requested(); }

  Task<> finish(std::string message) {
    outbox_->push(sse_frame(message));
    co_await close();
  }
  Task<> close() {
    outbox_->close();
    co_await group_->join();
  }

 private:
  static Task<> pump(net::Exchange& exchange, std::shared_ptr<Outbox> outbox, std::chrono::milliseconds keep_alive) {
    co_await stream_events(exchange, std::move(outbox), keep_alive);
  }

  net::Exchange& exchange_;
  Executor executor_;
  std::chrono::milliseconds keep_alive_;
  std::shared_ptr<Outbox> outbox_;
  std::optional<TaskGroup> group_;
  std::shared_ptr<Cancellation> cancellation_;
};

// A request that is wrong in itself is refused with 400, also where the same code could answer a good one
// with 200.
unsigned rejection_status(const Error& error) {
  const unsigned status = mcp::http_status(error, mcp::Era::modern);
  return status == 200 ? 400 : status;
}

}  // namespace

Task<> ModernHttp::post(net::Exchange& exchange, json::Message& message, const Caller& caller) {
  // 2026-07-28 has no notifications from a client over HTTP, and no responses; the former do no harm.
  if (message.kind == json::MessageKind::notification) co_return co_await reply_empty(exchange, 202);
  if (message.kind != json::MessageKind::request) {
    const Error error = mcp::errors::invalid_request("A client sends requests and notifications, no responses");
    co_return co_await reply_error(exchange, 400, {}, error, mcp::Era::modern);
  }
  const mcp::HeaderLookup lookup = [&exchange](std::string_view name) {
    return exchange.request().fields().find(name);
  };
  const Result<mcp::Request> request = mcp::modern::decode(message, lookup, endpoint_.options_.eras);
  if (!request) {
    co_return co_await reply_error(exchange, rejection_status(request.error()), message.id, request.error(),
                                   mcp::Era::modern);
  }
  switch (request->method->method) {
    case mcp::Method::discover: {
      const mcp::Reply reply = discover_reply(endpoint_.service_, caller, endpoint_.options_.eras);
      co_return co_await reply_result(exchange, request->id(), *request->method, reply, style());
    }
    case mcp::Method::listen: co_return co_await listen(exchange, *request, caller);
    case mcp::Method::tools_call: {
      const auto checked = endpoint_.service_.check_parameter_headers(*request, lookup);
      if (!checked) {
        co_return co_await reply_error(exchange, 400, message.id, checked.error(), mcp::Era::modern);
      }
      break;
    }
    default: break;
  }
  co_await call(exchange, *request, caller);
}

Task<> ModernHttp::call(net::Exchange& exchange, const mcp::Request& request, const Caller& caller) {
  ModernChannel channel(exchange, co_await boost::asio::this_coro::executor, endpoint_.options_.keep_alive);
  Call call(request, caller, channel);
  ModernAnswer answer(endpoint_.service_, endpoint_.states_);
  const mcp::Outcome outcome = co_await answer.run(call);

  if (channel.cancelled()) {
    if (channel.streaming()) co_await channel.close();
    co_return;
  }
  if (!channel.streaming()) {
    if (!outcome) {
      co_return co_await reply_error(exchange, mcp::http_status(outcome.error(), mcp::Era::modern), request.id(),
                                     outcome.error(), mcp::Era::modern);
    }
    if (const auto* reply = std::get_if<mcp::Reply>(&*outcome)) {
      co_return co_await reply_result(exchange, request.id(), *request.method, *reply, style());
    }
    const std::string body = mcp::write_input_required(request.id(), std::get<mcp::InputRequired>(*outcome),
                                                       answer.request_state(), style());
    co_return co_await reply_json(exchange, 200, body);
  }

  std::string last;
  if (!outcome) {
    last = mcp::write_error(request.id(), outcome.error(), mcp::Era::modern);
  } else if (const auto* reply = std::get_if<mcp::Reply>(&*outcome)) {
    last = mcp::write_result(request.id(), *request.method, *reply, style());
  } else {
    last = mcp::write_input_required(request.id(), std::get<mcp::InputRequired>(*outcome), answer.request_state(),
                                     style());
  }
  co_await channel.finish(std::move(last));
}

Task<> ModernHttp::listen(net::Exchange& exchange, const mcp::Request& request, const Caller& caller) {
  const auto wanted = mcp::parse_subscription_filter(request.param("notifications"));
  if (!wanted) co_return co_await reply_error(exchange, 400, request.id(), wanted.error(), mcp::Era::modern);
  auto outbox = std::make_shared<Outbox>(co_await boost::asio::this_coro::executor);
  ListenStream stream(
      endpoint_.service_.accept(*wanted, caller), std::string(request.id()), style(),
      [outbox](std::string message) { outbox->push_once(sse_frame(message)); }, [outbox] { outbox->close(); });
  const auto registration = stream.start(endpoint_.listeners_);
  exchange.on_disconnect([outbox] { outbox->close(); });
  co_await stream_events(exchange, outbox, endpoint_.options_.keep_alive);
}

}  // namespace proteus::server
