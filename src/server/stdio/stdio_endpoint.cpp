#include "server/stdio/stdio_endpoint.hpp"

#include <algorithm>
#include <future>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "server/core/event_text.hpp"
#include "server/core/legacy_answer.hpp"
#include "server/core/legacy_batch.hpp"
#include "server/core/line_channel.hpp"
#include "server/core/listen_stream.hpp"
#include "server/core/modern_answer.hpp"

namespace proteus::server {

namespace asio = boost::asio;

namespace {

// Pipes stay open until their client ends, so `end` has nothing to do.
class StdioLine final : public SessionLine {
 public:
  explicit StdioLine(std::function<void(std::string)> write) : write_(std::move(write)) {}

  void deliver(std::string message) override { write_(std::move(message)); }
  void announce(std::string message) override { write_(std::move(message)); }
  bool is_open() override { return true; }
  void end() override {}

 private:
  std::function<void(std::string)> write_;
};

Task<> finish(StdioEndpoint& endpoint, StdioPipes& pipes) {
  co_await endpoint.finish();
  pipes.interrupt();
}

}  // namespace

StdioEndpoint::StdioEndpoint(Service& service, Listeners& listeners, const Clock& clock, SealingKey key,
                             StdioOptions options, const Executor& executor, std::function<bool(std::string)> write)
    : service_(service),
      listeners_(listeners),
      states_(key, clock),
      options_(options),
      executor_(executor),
      write_(std::move(write)),
      caller_(options_.caller),
      running_(executor) {}

bool StdioEndpoint::write_line(std::string message) {
  join_lines(message);
  message += '\n';
  return write_(std::move(message));
}

void StdioEndpoint::write_answer(std::string_view id, std::string answer, mcp::Era era) {
  if (write_line(std::move(answer))) return;
  reply_error(id, errors::exhausted("the answer was dropped: too much waits that the client has not read"), era);
}

void StdioEndpoint::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (!skipping_ && partial_.size() + piece.size() > options_.line_bytes) {
      skipping_ = true;
      partial_.clear();
      reply_error({}, errors::too_large("a message", options_.line_bytes), mcp::Era::modern);
    }
    if (!skipping_) partial_ += piece;
    if (end == std::string_view::npos) return;
    if (!skipping_) take_line(std::exchange(partial_, {}));
    skipping_ = false;
    bytes.remove_prefix(end + 1);
  }
}

void StdioEndpoint::take_line(std::string line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  take_message(std::move(line));
}

void StdioEndpoint::take(const json::Message& notification) {
  if (session_) return take_notification(notification, *session_, in_flight_, service_);
  if (notification.method != mcp::to_string(mcp::Method::cancelled)) return;
  in_flight_.cancel(notification.body.value("requestId"));
}

void StdioEndpoint::take_message(std::string line) {
  auto message = json::scan(line);
  if (!message) return reply_error({}, message.error(), mcp::Era::modern);
  if (message->kind == json::MessageKind::invalid) {
    const bool array = line[line.find_first_not_of(" \t\r")] == '[';
    if (array && session_ && session_->hello().version == mcp::Version::v2025_03_26) {
      return running_.spawn("batch", run_batch(std::move(line), session_));
    }
    return reply_error(message->id, mcp::errors::invalid_request("Not a JSON-RPC message: " + message->fault),
                       mcp::Era::modern);
  }
  if (message->kind == json::MessageKind::notification) {
    return take(*message);
  }
  if (message->kind != json::MessageKind::request) {
    if (session_) session_->client_requests().resolve(*message);
    return;
  }
  if (running_.size() >= options_.concurrent_requests) {
    return reply_error(message->id, errors::exhausted("too many requests are under way"), mcp::Era::modern);
  }
  const bool modern = mcp::modern::claims(*message, std::nullopt);
  if (modern && options_.eras.modern) {
    running_.spawn("request", run_modern(std::move(line)));
  } else if (!modern && options_.eras.legacy) {
    if (message->method == "initialize") return initialize(*message);
    running_.spawn("request", run_legacy(std::move(line)));
  } else if (modern) {
    reply_error(message->id, mcp::errors::method_not_found(message->method), mcp::Era::legacy);
  } else {
    const auto version = json::decode_string(message->body.value("protocolVersion"));
    reply_error(message->id, mcp::errors::unsupported_version(version ? *version : "none", options_.eras),
                mcp::Era::modern);
  }
}

void StdioEndpoint::reply_error(std::string_view id, const Error& error, mcp::Era era) {
  write_line(mcp::write_error(id, error, era));
}

void StdioEndpoint::initialize(json::Message& message) {
  auto hello = read_hello(message, caller_);
  if (!hello) return reply_error(message.id, hello.error(), mcp::Era::legacy);
  std::string welcome = answer_initialize(message.id, *hello, service_);
  session_listens_.reset();
  // The client has begun anew, so it owes the earlier session no answers.
  if (session_) session_->client_requests().end();
  session_ = std::make_shared<Session>(
      ClientSessionId(), std::move(*hello), nullptr,
      std::make_shared<StdioLine>([this](std::string notification) { write_line(std::move(notification)); }),
      &listeners_, next_epoch_++);
  write_line(std::move(welcome));
  session_listens_ = listeners_.add(*session_);
}

Task<> StdioEndpoint::run_modern(std::string line) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  auto message = json::scan(line);
  const Result<mcp::Request> request = mcp::modern::decode(*message, {}, options_.eras);
  if (!request) co_return reply_error(message->id, request.error(), mcp::Era::modern);
  auto cancellation = std::make_shared<Cancellation>(executor_);
  const std::string id(request->id());
  if (!in_flight_.add(id, cancellation)) {
    co_return reply_error(id, id_in_use(), mcp::Era::modern);
  }
  std::string answer;
  try {
    if (request->method->method == mcp::Method::discover) {
      answer = mcp::write_result(id, *request->method, discover_reply(service_, caller_, options_.eras), style());
    } else if (request->method->method == mcp::Method::listen) {
      co_await listen(*request, cancellation);
    } else {
      LineChannel channel([this](std::string text) { write_line(std::move(text)); }, cancellation);
      Call call(*request, caller_, channel);
      ModernRound round(call, states_);
      answer = round.write(co_await run_round(round, service_, call), style());
    }
  } catch (...) {
    answer = mcp::write_error(id, service_.failed(*request), mcp::Era::modern);
  }
  in_flight_.remove(id);
  if (!answer.empty() && !cancellation->requested()) write_answer(id, std::move(answer), mcp::Era::modern);
}

Task<> StdioEndpoint::listen(const mcp::Request& request, std::shared_ptr<Cancellation> cancellation) {
  const auto wanted = mcp::parse_subscription_filter(request.param("notifications"));
  if (!wanted) co_return reply_error(request.id(), wanted.error(), mcp::Era::modern);
  asio::steady_timer until(executor_, asio::steady_timer::time_point::max());
  const mcp::SubscriptionFilter accepted = service_.accept(*wanted, caller_, nullptr);
  ListenStream stream(
      caller_, accepted, std::string(request.id()), style(),
      [this](std::string notification) { write_line(std::move(notification)); },
      [cancellation] { cancellation->request(); });
  const auto registration = stream.start(listeners_);
  streams_.insert(&stream);
  const std::shared_ptr<void> leave(nullptr, [this, &stream](void*) { streams_.erase(&stream); });
  const Cancellation::Hook end(*cancellation, [&until] { until.cancel(); });
  stream.acknowledge(refused_uris(co_await service_.follow(caller_, {}, nullptr, request, accepted)));
  if (finishing_ && !cancellation->requested()) stream.end();
  while (!cancellation->requested()) {
    boost::system::error_code ignored;
    co_await until.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

Task<> StdioEndpoint::run_legacy(std::string line) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  auto message = json::scan(line);
  const auto session = session_;
  std::string answer = session ? co_await answer_legacy(*message, *session) : answer_before_handshake(*message);
  if (!answer.empty()) write_answer(message->id, std::move(answer), mcp::Era::legacy);
}

Task<std::string> StdioEndpoint::answer_legacy(json::Message& message, Session& session) {
  LineChannel channel([this](std::string text) { write_line(std::move(text)); },
                      std::make_shared<Cancellation>(executor_));
  co_return co_await answer_request(message, session, caller_, {}, in_flight_, channel, service_, options_.asking);
}

Task<> StdioEndpoint::run_batch(std::string line, std::shared_ptr<Session> session) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  auto batch = scan_batch(line, {});
  if (!batch) co_return reply_error({}, batch.error(), mcp::Era::legacy);
  std::vector<std::string> ids;
  std::string answers;
  const BatchHandling handling{
      .answer =
          [&](json::Message& message) {
            ids.emplace_back(message.id);
            return answer_legacy(message, *session);
          },
      .send = [&answers](const std::string& answer) { answers += (answers.empty() ? "[" : ",") + answer; }};
  co_await server::run_batch(std::move(*batch), *session, in_flight_, service_, handling);
  if (answers.empty() || write_line(answers + "]")) co_return;
  // One line for each, because short lines still find room where long ones do not.
  for (const std::string& id : ids) {
    reply_error(id,
                errors::exhausted("the answers of a batch were dropped: too much waits that the client has not read"),
                mcp::Era::legacy);
  }
}

Task<> StdioEndpoint::finish() {
  finishing_ = true;
  if (!partial_.empty()) take_line(std::exchange(partial_, {}));
  for (ListenStream* const stream : streams_)
    stream->end();
  if (session_) session_->client_requests().end();
  co_await running_.join();
}

Task<> StdioEndpoint::close() {
  session_listens_.reset();
  in_flight_.cancel_all();
  co_await running_.join();
}

Result<> serve(StdioEndpoint& endpoint, StdioPipes& pipes, asio::io_context& io, std::chrono::milliseconds grace) {
  const auto end = pipes.read(
      [&](std::string bytes) { asio::post(io, [&endpoint, bytes = std::move(bytes)] { endpoint.feed(bytes); }); });
  std::future<void> finished;
  if (end == StdioPipes::End::of_input) {
    finished = asio::co_spawn(io, finish(endpoint, pipes), asio::use_future);
    pipes.wait();
  }
  asio::co_spawn(io, endpoint.close(), asio::use_future).get();
  if (finished.valid()) finished.get();
  // Without a grace time, too, what is answered is written.
  pipes.flush(std::max<std::chrono::milliseconds>(grace, std::chrono::seconds(1)));
  if (!end) return std::unexpected(end.error());
  return {};
}

}  // namespace proteus::server
