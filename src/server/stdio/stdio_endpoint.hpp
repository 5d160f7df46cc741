#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/task_group.hpp"
#include "mcp/jsonrpc.hpp"
#include "server/core/asking.hpp"
#include "server/core/listeners.hpp"
#include "server/core/request_state.hpp"
#include "server/core/session.hpp"
#include "server/stdio/stdio_pipes.hpp"

namespace boost::asio {
class io_context;
}

namespace proteus::server {

class ListenStream;

struct StdioOptions {
  mcp::Eras eras;
  AskingLimits asking{};
  std::size_t line_bytes = std::size_t{16} << 20U;
  std::size_t concurrent_requests = 1024;
  Caller caller{};  // whoever started us
};

// One client on a pair of byte streams, a message per line, both eras. Everything happens on one thread, that
// of the executor; `write` is given whole lines and may be called from any thread.
class StdioEndpoint {
 public:
  StdioEndpoint(Service& service, Listeners& listeners, const Clock& clock, SealingKey key, StdioOptions options,
                const Executor& executor, std::function<void(std::string)> write);

  // Takes bytes as they come.
  void feed(std::string_view bytes);
  // The client sends no more: ends what listens, and completes when everything else is answered. What needs an answer
  // of the client fails.
  Task<> finish();
  // The client is gone, or the server stops: cancels what runs, and completes when nothing is left.
  Task<> close();

 private:
  void take_line(std::string line);
  void take_message(std::string line);
  void take(const json::Message& notification);
  Task<> run_modern(std::string line);
  Task<> run_legacy(std::string line);
  // Empty where the request was cancelled.
  Task<std::string> answer_legacy(json::Message& message, Session& session);
  // An array of messages, which only 2025-03-26 knew; the answers are one array, too.
  Task<> run_batch(std::string line, std::shared_ptr<Session> session);
  Task<> listen(const mcp::Request& request, std::shared_ptr<Cancellation> cancellation);
  void initialize(json::Message& message);
  void reply_error(std::string_view id, const Error& error, mcp::Era era);
  void write_line(std::string message);
  mcp::ResultStyle style() const { return service_.modern_style(); }

  Service& service_;
  Listeners& listeners_;
  RequestStates states_;
  const StdioOptions options_;
  Executor executor_;
  std::function<void(std::string)> write_;
  const Caller caller_;
  InFlight in_flight_;
  TaskGroup running_;

  std::string partial_;
  bool skipping_ = false;  // the rest of a line that is too long
  bool finishing_ = false;
  std::set<ListenStream*> streams_;

  std::shared_ptr<Session> session_;
  Listeners::Registration session_listens_;
};

// Serves the client at the pipes on the thread of `io`, which is another: until its input has ended and what it asked
// for is answered, until it no longer reads, or until the pipes are interrupted.
Result<> serve(StdioEndpoint& endpoint, StdioPipes& pipes, boost::asio::io_context& io);

}  // namespace proteus::server
