#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/tasks/task_group.hpp"
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
  Caller caller{};  // the client, which started this process
};

// Serves one client on a pair of byte streams, with one message per line, in both eras. Belongs to the executor's
// thread. `write` gets whole lines and is called on any thread. If it returns false, the line was dropped.
class StdioEndpoint {
 public:
  StdioEndpoint(Service& service, Listeners& listeners, const Clock& clock, SealingKey key, StdioOptions options,
                const Executor& executor, std::function<bool(std::string)> write);

  // Takes input in any pieces.
  void feed(std::string_view bytes);
  // Handles the end of the input: ends the listen streams, fails requests to the client, and completes when all other
  // requests are answered.
  Task<> finish();
  // Cancels all requests, because the client is gone or the server stops. Completes when nothing runs any more.
  Task<> close();

 private:
  void take_line(std::string line);
  void take_message(std::string line);
  void take(const json::Message& notification);
  Task<> run_modern(std::string line);
  Task<> run_legacy(std::string line);
  // Returns the answer; empty if the request was cancelled.
  Task<std::string> answer_legacy(json::Message& message, Session& session);
  // Answers an array of messages, which only 2025-03-26 has, with one array.
  Task<> run_batch(std::string line, std::shared_ptr<Session> session);
  Task<> listen(const mcp::Request& request, std::shared_ptr<Cancellation> cancellation);
  void initialize(json::Message& message);
  void reply_error(std::string_view id, const Error& error, mcp::Era era);
  bool write_line(std::string message);
  // Writes an answer, or an error if it was dropped.
  void write_answer(std::string_view id, std::string answer, mcp::Era era);
  mcp::ResultStyle style() const { return service_.modern_style(); }

  Service& service_;
  Listeners& listeners_;
  RequestStates states_;
  const StdioOptions options_;
  Executor executor_;
  std::function<bool(std::string)> write_;
  const Caller caller_;
  InFlight in_flight_;
  TaskGroup running_;

  std::string partial_;
  bool skipping_ = false;  // ignoring the rest of a line that is too long
  bool finishing_ = false;
  std::set<ListenStream*> streams_;

  std::shared_ptr<Session> session_;
  Epoch next_epoch_ = 0;  // so that a late answer to an earlier session's request answers none of a later session
  Listeners::Registration session_listens_;
};

// Serves the client at the pipes on the thread of `io`, which must be another thread. Blocks until the input has ended
// and all requests are answered, until the client no longer reads, or until the pipes are interrupted. Drops what the
// client does not begin to read within `grace`.
Result<> serve(StdioEndpoint& endpoint, StdioPipes& pipes, boost::asio::io_context& io,
               std::chrono::milliseconds grace);

}  // namespace proteus::server
