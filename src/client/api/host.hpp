#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <proteus/client.hpp>
#include <proteus/error.hpp>

#include "auth/fetch/http_fetch.hpp"
#include "base/clock.hpp"
#include "client/api/inventory.hpp"
#include "client/connection/circuit_breaker.hpp"
#include "client/connection/connection.hpp"
#include "client/connection/refresher.hpp"
#include "client/sign_in/oauth_authorizer.hpp"
#include "net/http_client/http_client.hpp"

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

struct HostSettings {
  std::string name;  // in the log and in errors
  RefreshPolicy refresh;
  unsigned circuit_failures = 5;
  std::chrono::milliseconds circuit_open = std::chrono::seconds(30);
  std::string list_meta;  // members of the `_meta` of lists, as JSON text without braces
  std::optional<OAuthOptions> oauth = std::nullopt;
};

// A connection with a thread of its own, for callers that block, and an inventory that a Refresher keeps fresh. Safe to
// use from several threads, except where said.
class Host {
 public:
  using OnChange = std::function<void(const catalog::Change& change)>;

  // `on_change` is called on the host's thread, and must not block.
  // The context is run by the host, and by nobody else.
  Host(std::shared_ptr<boost::asio::io_context> io, Endpoint endpoint, Options options, net::HttpClientOptions http,
       HostSettings settings, OnChange on_change);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Connects and takes the inventory. Once. What fails is tried again in the background until `close`.
  Result<> open();
  // Reads everything now.
  Reading read_now();
  // Reads everything, where the inventory is too old to use.
  void freshen();
  void set_auto_refresh(bool on) { refresher_.set_auto_refresh(on); }
  // Ends what is under way, and the thread. Must not be called on it.
  void close();

  std::shared_ptr<const ServerFacts> facts() const { return refresher_.facts(); }
  // Null before the server was ever read.
  std::shared_ptr<const Inventory> inventory() const;
  ServerHealth health() const { return refresher_.health(); }
  Circuit circuit() const { return breaker_.state(); }
  Counters counters() const;

  // Runs a task on the host's thread and waits for its end. `make` is called with the connection; it is given
  // to the task, which may refer to it. What is posted to `meanwhile` runs on the calling thread.
  template <class T>
  Result<T> call(std::function<Task<Result<T>>(Connection&)> make, CallingThread& meanwhile) {
    const CallUnderWay turn(*this);
    if (!turn) return std::unexpected(errors::cancelled("the connection"));
    std::optional<Result<T>> result;
    boost::asio::co_spawn(*io_, make(refresher_.connection()), [&](std::exception_ptr thrown, Result<T> value) {
      result = thrown ? Result<T>(std::unexpected(errors::cancelled("the call"))) : std::move(value);
      meanwhile.finish();
    });
    meanwhile.run();
    return std::move(*result);
  }
  // The same for a request that counts: the circuit breaker decides whether it is sent, and where the answer asks for
  // it the lists are read again first.
  Result<Answer> request(std::function<Task<Result<Answer>>(Connection&)> make, CallingThread& meanwhile);

 private:
  // A call under way, which the thread must not end before.
  class CallUnderWay {
   public:
    explicit CallUnderWay(Host& host);
    ~CallUnderWay();
    CallUnderWay(const CallUnderWay&) = delete;
    CallUnderWay& operator=(const CallUnderWay&) = delete;
    explicit operator bool() const { return allowed_; }

   private:
    Host& host_;
    bool allowed_;
  };

  Options completed(Options options);
  Refresher::Dependencies refreshing();
  Task<Result<Gathered>> read();
  void on_read(const Reading& reading);
  Task<Result<Answer>> send(std::function<Task<Result<Answer>>(Connection&)> make);
  Task<Result<>> shut_down();

  // In this order: what is below uses what is above.
  std::shared_ptr<boost::asio::io_context> io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_->get_executor()};
  SystemClock clock_;
  net::HttpClient http_;
  auth::HttpFetch fetch_{http_};
  const HostSettings settings_;
  OnChange on_change_;
  CircuitBreaker breaker_{clock_, settings_.circuit_failures, settings_.circuit_open, settings_.name};
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> failed_requests_ = 0;
  std::atomic<std::uint64_t> refused_requests_ = 0;
  bool read_once_ = false;  // of the host's thread

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t turns_ = 0;
  bool closing_ = false;
  std::shared_ptr<const Inventory> inventory_;

  Refresher refresher_;
  std::thread thread_;
};

}  // namespace proteus::client
