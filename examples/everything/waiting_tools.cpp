#include <atomic>
#include <chrono>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <proteus/server_async.hpp>

#include "everything.hpp"

// Tools that wait, written as coroutines.
namespace everything {

using namespace proteus::server;
using namespace std::chrono_literals;

namespace {

boost::asio::awaitable<void> pause(std::chrono::milliseconds time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

boost::asio::awaitable<Outcome<ToolResult>> with_progress(Context& context) {
  context.progress(0, 100);
  co_await pause(50ms);
  context.progress(50, 100);
  co_await pause(50ms);
  context.progress(100, 100);
  co_return ToolResult::text("Progress was reported three times.");
}

boost::asio::awaitable<Outcome<ToolResult>> with_logging(Context& context) {
  context.log(LogLevel::info, "Tool execution started");
  co_await pause(50ms);
  context.log(LogLevel::info, "Tool processing data");
  co_await pause(50ms);
  context.log(LogLevel::info, "Tool execution completed");
  co_return ToolResult::text("Three messages were logged.");
}

boost::asio::awaitable<Outcome<ToolResult>> reconnection(Context& context) {
  context.release_connection(300ms);
  co_await pause(100ms);
  co_return ToolResult::text("Reconnection test completed successfully.");
}

// Runs until it is cancelled, and counts the cancellations in `cancelled`.
boost::asio::awaitable<Outcome<ToolResult>> until_cancelled(Context& context, std::atomic<int>& cancelled) {
  try {
    context.progress(0);
    co_await pause(1h);
  } catch (const boost::system::system_error&) {
    ++cancelled;
    throw;
  }
  co_return ToolResult::text("Nobody cancelled.");
}

}  // namespace

void add_waiting_tools(Server& server) {
  add_async_tool(server, {.name = "test_tool_with_progress", .description = "Reports progress"}, with_progress).value();
  add_async_tool(server, {.name = "test_tool_with_logging", .description = "Logs three messages"}, with_logging)
      .value();
  add_async_tool(server, {.name = "test_logging_tool", .description = "Logs three messages"}, with_logging).value();
  add_async_tool(server, {.name = "test_reconnection", .description = "Closes its stream before it answers"},
                 reconnection)
      .value();
  auto cancelled = std::make_shared<std::atomic<int>>(0);
  add_async_tool(server, {.name = "test_wait_until_cancelled", .description = "Runs until it is cancelled"},
                 [cancelled](Context& context) { return until_cancelled(context, *cancelled); })
      .value();
  server
      .add_tool(
          {.name = "test_count_cancelled", .description = "How often test_wait_until_cancelled was cancelled"},
          [cancelled](Context&) -> Outcome<ToolResult> { return ToolResult::json({{"cancelled", cancelled->load()}}); })
      .value();
}

}  // namespace everything
