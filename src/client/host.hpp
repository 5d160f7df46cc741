#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/task_group.hpp"
#include "client/changes.hpp"
#include "client/connection.hpp"
#include "client/inventory.hpp"
#include "client/waiting.hpp"
#include "net/http_client.hpp"

namespace proteus::client {

// A thread that waits for the outcome of a call, and runs what is to be run meanwhile on it.
class CallingThread {
 public:
  void post(std::function<void()> function);
  void finish() { post(nullptr); }
  // Runs what was posted, until `finish` was.
  void run();

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> functions_;
};

// One reading of the lists.
struct Reading {
  Clock::Wall at;
  std::chrono::milliseconds duration{};
  std::optional<Error> error;
  std::vector<ListChange> changes;
};

// A connection with a thread of its own, for callers that block; and an inventory that is taken anew when the server
// announces changes, on a timer, or when asked. One reading at a time. Safe to use from several threads, except where
// said.
class Host {
 public:
  using OnChange = std::function<void(const ListChange& change)>;

  enum class Listen : std::uint8_t { no, yes };

  // `on_change` is called on the host's thread, and must not block.
  // The context is run by the host, and by nobody else.
  Host(std::shared_ptr<boost::asio::io_context> io, Endpoint endpoint, Options options, net::HttpClientOptions http,
       Listen listen, OnChange on_change);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Connects, listens where the server announces changes, and takes the inventory. Once.
  Result<> open();
  // Goes on trying what `open` could not do, in the background, with growing pauses.
  void keep_trying();
  // Reads everything now.
  Reading read_now();
  // Reads everything each time an interval, give or take a tenth, has passed. Nothing happens where it does already.
  void start_polling(std::chrono::milliseconds interval);
  void stop_polling();
  bool polls() const;
  // Ends what is under way, and the thread. Must not be called on it.
  void close();

  std::shared_ptr<const ServerFacts> facts() const;
  // Null before the server was ever read.
  std::shared_ptr<const Inventory> inventory() const;

  struct Health {
    unsigned failures = 0;  // readings in a row
    std::optional<Error> error = {};
    std::optional<Clock::Wall> read_at = {};  // when something was last read without fault
  };
  Health health() const;

  // Runs a task on the host's thread and waits for its end. `make` is called with the connection; it is given
  // to the task, which may refer to it. What is posted to `meanwhile` runs on the calling thread.
  template <class T>
  Result<T> call(std::function<Task<Result<T>>(Connection&)> make, CallingThread& meanwhile) {
    const Turn turn(*this);
    if (!turn) return std::unexpected(errors::cancelled("the connection"));
    std::optional<Result<T>> result;
    boost::asio::co_spawn(*io_, make(connection_), [&](std::exception_ptr thrown, Result<T> value) {
      result = thrown ? Result<T>(std::unexpected(errors::cancelled("the call"))) : std::move(value);
      meanwhile.finish();
    });
    meanwhile.run();
    return std::move(*result);
  }

 private:
  // A call under way, which the thread must not end before.
  class Turn {
   public:
    explicit Turn(Host& host);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return allowed_; }

   private:
    Host& host_;
    bool allowed_;
  };

  Options with_announcements(Options options);
  struct Poller;

  Task<Result<bool>> open_and_read();
  Task<Result<std::shared_ptr<const Inventory>>> discover();
  Task<Result<Reading>> read_all();
  Task<> try_until_there();
  Task<> listen_again(mcp::SubscriptionFilter wanted);
  Task<> poll(std::shared_ptr<Poller> poller);
  void succeeded();
  void failed(const Error& error);
  Task<Result<bool>> shut_down();
  void on_announcement(const Announcement& announcement);
  Task<> refresh();
  void publish(std::shared_ptr<const Inventory> inventory);

  // In this order: what is below uses what is above.
  std::shared_ptr<boost::asio::io_context> io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_->get_executor()};
  SystemClock clock_;
  net::HttpClient http_;
  const Listen listen_;
  OnChange on_change_;
  TaskGroup tasks_{io_->get_executor()};
  Connection connection_;

  // Of the host's thread.
  std::set<mcp::Method> stale_;
  bool refreshing_ = false;
  bool listening_again_ = false;
  Bell settled_{io_->get_executor()};  // rung when a reading has ended

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t turns_ = 0;
  bool closing_ = false;
  std::shared_ptr<const ServerFacts> facts_;
  std::shared_ptr<const Inventory> inventory_;
  Health health_;
  std::shared_ptr<Poller> poller_;

  std::thread thread_;
};

}  // namespace proteus::client
