#pragma once

#include <atomic>
#include <condition_variable>
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
#include "client/api/callback_thread.hpp"
#include "client/api/inventory.hpp"
#include "client/connection/circuit_breaker.hpp"
#include "client/connection/connection.hpp"
#include "client/connection/refresher.hpp"
#include "client/sign_in/oauth_authorizer.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::client {

// A queue of functions of the application that a thread runs while it waits for the result of a call. Any thread may
// post.
class CallingThread {
 public:
  // Drops the function if too many wait; see WaitingFunctions. `bytes` is about the memory that it holds.
  void post(std::function<void()> function, std::size_t bytes);
  void finish();
  // Runs the posted functions until `finish` is called. If one of them throws, runs no more of them, and throws the
  // exception after `finish` was called: what the call refers to must outlive the call.
  void run();

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  WaitingFunctions functions_;
  bool finished_ = false;
};

// Returns why a task ended by an exception.
Error error_of(const std::exception_ptr& thrown);

struct HostSettings {
  std::string name;  // in the log and in errors
  RefreshPolicy refresh;
  unsigned circuit_failures = 5;
  std::chrono::milliseconds circuit_open = std::chrono::seconds(30);
  std::string list_meta;  // members for the `_meta` of list requests, as JSON text without braces
  std::optional<OAuthOptions> oauth = std::nullopt;
};

// A connection with its own thread, for callers that block, and an inventory that a Refresher keeps fresh. Thread-safe,
// except where noted.
class Host {
 public:
  using OnChange = std::function<void(const catalog::Change& change)>;

  // `on_change` is called on the host's thread, and must not block. Only the host may run the context.
  Host(std::shared_ptr<boost::asio::io_context> io, Endpoint endpoint, Options options, net::HttpClientOptions http,
       HostSettings settings, OnChange on_change);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Connects and waits for the first reading of all lists. Must be called once. Retries failures until `close`.
  Result<> open();
  // Reads all lists now.
  Reading read_now();
  // Reads all lists if they are too old by the `ttl`.
  void freshen();
  void set_auto_refresh(bool on) { refresher_.set_auto_refresh(on); }
  // Ends everything under way, and the thread. Must not be called on that thread.
  void close();

  std::shared_ptr<const ServerFacts> facts() const { return refresher_.facts(); }
  // Returns null if the server was never read.
  std::shared_ptr<const Inventory> inventory() const;
  ServerHealth health() const { return refresher_.health(); }
  Circuit circuit() const { return breaker_.state(); }
  Counters counters() const;

  // Runs a task on the host's thread and waits for its end. `make` receives the connection, to which the task may
  // refer. Functions that are posted to `meanwhile` run on the calling thread.
  template <class T>
  Result<T> call(std::function<Task<Result<T>>(Connection&)> make, CallingThread& meanwhile) {
    const CallUnderWay turn(*this);
    if (!turn) return std::unexpected(errors::cancelled("the connection"));
    std::optional<Result<T>> result;
    boost::asio::co_spawn(*io_, make(refresher_.connection()), [&](std::exception_ptr thrown, Result<T> value) {
      result = thrown ? Result<T>(std::unexpected(error_of(thrown))) : std::move(value);
      meanwhile.finish();
    });
    meanwhile.run();
    return std::move(*result);
  }
  // Like `call`, for a request that counts: the circuit breaker decides whether it is sent, and if the answer demands
  // that, the lists are read again before this returns.
  Result<Answer> request(std::function<Task<Result<Answer>>(Connection&)> make, CallingThread& meanwhile);

 private:
  // A call under way. The host's thread must not end before it.
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

  // In this order: later members use earlier ones.
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
  bool read_once_ = false;  // used only on the host's thread

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t turns_ = 0;
  bool closing_ = false;
  std::shared_ptr<const Inventory> inventory_;

  Refresher refresher_;
  std::thread thread_;
};

}  // namespace proteus::client
