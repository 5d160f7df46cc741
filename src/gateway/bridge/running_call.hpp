#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "base/tasks/waiting.hpp"
#include "client/message/handlers.hpp"
#include "client/message/received.hpp"
#include "mcp/meta.hpp"
#include "mcp/reply.hpp"

namespace proteus::client {
class Connection;
}

namespace proteus::gateway {

// A request of a modern client at a legacy upstream, which may ask questions while it runs. The request keeps running
// while the client has the questions and has not returned with answers. Belongs to one thread, that of its connection.
class RunningCall : public std::enable_shared_from_this<RunningCall> {
 public:
  using Answers = std::map<std::string, std::string, std::less<>>;  // by key: a result, as JSON
  using Questions = std::vector<mcp::InputRequest>;
  using News = Result<std::variant<client::Answer, Questions>>;
  using Sink = std::function<void(const json::Message&)>;

  // `client` has the capabilities of the client; other questions are refused.
  RunningCall(const Executor& thread, mcp::ClientCapabilities client);

  const Executor& thread() const { return thread_; }
  // Returns handlers that pass the upstream's questions to this call, and keep it alive.
  std::shared_ptr<const client::Handlers> handlers();
  // Sets the callback for the upstream's first question.
  void set_on_asked(std::function<void()> on_asked) { on_asked_ = std::move(on_asked); }
  // Keeps the connection alive until the request has ended.
  void set_connection(std::shared_ptr<client::Connection> connection) { connection_ = std::move(connection); }
  const std::shared_ptr<client::Connection>& connection() const { return connection_; }
  // Passes a notification of the request to the client's request that waits. If none waits, keeps it for the next one;
  // only the latest are kept, within limits.
  void notify(const json::Message& message);

  // Runs the request to its end. Must be started once.
  Task<> run(Task<Result<client::Answer>> request);

  // Waits for the upstream's answer or for open questions, on behalf of a request of the client; only one may wait at a
  // time. Keeps answers to questions that have not been asked yet. Questions that arrive close together are returned
  // together. `number` identifies the waiting request for `leave`.
  Task<News> wait_for_call(std::uint64_t number, Sink sink, Answers answers);
  // Cancels the call if the request with this number still waits: its client is gone.
  void leave(std::uint64_t number);

  // Cancels the request, also at the upstream.
  void cancel();
  // Calls back after `time`, unless the timer is stopped or started again before.
  void start_timer(std::chrono::milliseconds time, std::function<void()> callback);
  void stop_timer() { timer_.cancel(); }

 private:
  struct Open {
    mcp::InputRequest request;
    Bell bell;
    std::optional<std::string> answer;
  };

  Task<Result<std::string>> ask(client::Question question);
  std::string key_of(const mcp::InputRequest& request);
  Task<> wait_for_news();
  void tell_missed();
  News take_end();

  const Executor thread_;
  const mcp::ClientCapabilities client_;
  Deadline deadline_;
  boost::asio::steady_timer news_;
  boost::asio::steady_timer timer_;
  std::function<void()> on_asked_;
  std::shared_ptr<client::Connection> connection_;
  std::list<Open*> open_;  // in the order in which they were asked
  Answers early_;
  unsigned asked_ = 0;
  bool noted_ = false;   // whether `on_asked_` was called
  std::string missing_;  // capabilities that a refused question needed, as JSON
  std::uint64_t waiting_request_ = 0;
  Sink sink_;
  std::deque<std::string> missed_;
  std::size_t missed_bytes_ = 0;
  std::optional<Result<client::Answer>> end_;
};

}  // namespace proteus::gateway
