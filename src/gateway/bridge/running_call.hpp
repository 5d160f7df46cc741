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

#include "base/task.hpp"
#include "base/waiting.hpp"
#include "client/message/handlers.hpp"
#include "client/message/received.hpp"
#include "mcp/meta.hpp"
#include "mcp/reply.hpp"

namespace proteus::client {
class Connection;
}

namespace proteus::gateway {

// A request of a modern client at a legacy upstream, which asks while it runs. The request goes on while the client has
// been told what is asked for and has not come back with answers yet. Belongs to one thread, that of its connection.
class RunningCall : public std::enable_shared_from_this<RunningCall> {
 public:
  using Answers = std::map<std::string, std::string, std::less<>>;  // by key: a result, as JSON
  using Questions = std::vector<mcp::InputRequest>;
  using News = Result<std::variant<client::Answer, Questions>>;
  using Sink = std::function<void(const json::Message&)>;

  // `client` is what may be asked for.
  RunningCall(const Executor& thread, mcp::ClientCapabilities client);

  const Executor& thread() const { return thread_; }
  // Who answers the upstream's questions: this, and so for as long as it lives.
  std::shared_ptr<const client::Handlers> handlers();
  // Called when the upstream asks something for the first time.
  void set_on_asked(std::function<void()> on_asked) { on_asked_ = std::move(on_asked); }
  // What it runs on; kept for as long as it runs.
  void set_connection(std::shared_ptr<client::Connection> connection) { connection_ = std::move(connection); }
  const std::shared_ptr<client::Connection>& connection() const { return connection_; }
  // A notification of the upstream that belongs to the request. Where nobody attends it is kept for who comes next,
  // with the latest others, within a bound.
  void notify(const json::Message& message);

  // Runs the request, to its end.
  Task<> run(Task<Result<client::Answer>> request);

  // One request of the client that waits here: with answers, of which those that nobody asked for yet are kept; until
  // the upstream has answered, or until questions are open. Questions that come close to one another are told together.
  // `number` tells one that waits from those before it.
  Task<News> wait_for_call(std::uint64_t number, Sink sink, Answers answers);
  // The client that waits under this number is gone.
  void leave(std::uint64_t number);

  // Ends the request at the upstream, too.
  void cancel();
  // Calls back after a time, unless `stop_timer` or an end comes first.
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
  bool noted_ = false;   // that something was asked
  std::string missing_;  // capabilities that it asked for in vain, as JSON
  std::uint64_t attending_ = 0;
  Sink sink_;
  std::deque<std::string> missed_;
  std::size_t missed_bytes_ = 0;
  std::optional<Result<client::Answer>> end_;
};

}  // namespace proteus::gateway
