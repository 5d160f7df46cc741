#include "gateway/bridge/wait_for_call.hpp"

#include <atomic>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "gateway/routing/translation.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// Forwards the notifications of a call to the thread of the request that waits for it.
RunningCall::Sink sink_of(server::Call& request, Worker& worker) {
  return [&request, &worker](const json::Message& message) {
    std::string text = forwarded_notification(message, request.request());
    if (text.empty()) return;
    asio::dispatch(worker.io(), [&request, text = std::move(text)]() mutable { request.send(std::move(text)); });
  };
}

Task<Result<Forwarded>> wait(ParkedCalls& parked, ParkedCalls::Call call, std::uint64_t number, RunningCall::Sink sink,
                             RunningCall::Answers answers) {
  auto news = co_await call.running->wait_for_call(number, std::move(sink), std::move(answers));
  if (!news) co_return std::unexpected(std::move(news.error()));
  if (auto* answer = std::get_if<client::Answer>(&*news)) co_return std::move(*answer);
  co_await parked.prepare(call);
  auto ticket = parked.park(std::move(call));
  if (!ticket) co_return std::unexpected(std::move(ticket.error()));
  co_return mcp::InputRequired{std::move(std::get<RunningCall::Questions>(*news)), std::move(*ticket)};
}

}  // namespace

Task<Result<Forwarded>> wait_for_call(server::Call& request, Worker& worker, ParkedCalls& parked,
                                      ParkedCalls::Call call) {
  // Nobody would leave a call that nobody waits for yet.
  if (request.cancellation().requested()) {
    ParkedCalls::cancel(call);
    co_return std::unexpected(errors::cancelled("the request"));
  }
  const auto running = call.running;
  const std::uint64_t number = next_number();
  const server::Cancellation::Hook leave(request.cancellation(), [&running, number] {
    asio::dispatch(running->thread(), [running, number] { running->leave(number); });
  });
  auto waiting =
      wait(parked, std::move(call), number, sink_of(request, worker), std::exchange(request.rounds().answers, {}));
  const bool here = running->thread() == Executor(worker.io().get_executor());
  auto outcome = here ? co_await std::move(waiting)
                      : co_await asio::co_spawn(running->thread(), std::move(waiting), asio::use_awaitable);
  // The request may have been cancelled while the call was being parked.
  const auto* const asked = outcome ? std::get_if<mcp::InputRequired>(&*outcome) : nullptr;
  if (asked != nullptr && request.cancellation().requested()) {
    parked.cancel(asked->state);
    co_return std::unexpected(errors::cancelled("the request"));
  }
  co_return outcome;
}

}  // namespace proteus::gateway
