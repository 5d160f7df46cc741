#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/delivery.hpp"
#include "base/task_group.hpp"
#include "base/waiting.hpp"
#include "net/http_client/connecting.hpp"
#include "net/http_client/name_lookup.hpp"
#include "net/io/deadlines.hpp"
#include "net/io/stream.hpp"
#include "redis/redis_url.hpp"
#include "redis/reply.hpp"

namespace proteus::redis {

struct ClientOptions {
  RedisUrl url;
  std::shared_ptr<net::NameLookup> names = {};  // none: one of its own
  ReplyLimits replies = {};
  // What waits to be sent or answered, and no more.
  std::size_t queued_bytes = std::size_t{32} << 20U;
  std::size_t queued_commands = 100'000;
  std::chrono::milliseconds connect_timeout{3'000};
  // A Redis that has not answered for so long is taken for gone.
  std::chrono::milliseconds answer_timeout{2'000};
  // How often a quiet connection is tried.
  std::chrono::milliseconds ping_every{2'000};
  std::chrono::milliseconds first_pause{50};
  std::chrono::milliseconds longest_pause{2'000};
};

using Words = std::vector<std::string_view>;

// One connection to a Redis, which comes back by itself. Commands go out in the order they are given, without waiting
// for the answers to those before. While there is no connection nothing is queued: a command fails at once.
//
// Connection and timers belong to the thread of the context; `post`, `ask` and the figures may be used from any. `stop`
// must have ended before it is destroyed.
class Client {
 public:
  Client(boost::asio::io_context& io, ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Thread-safe.
  void start();
  // On the thread of the context. Whoever waits is told.
  Task<> stop();

  // Thread-safe. For what nobody waits for; its answer is read and dropped. False where it is not sent.
  bool post(const Words& words);
  // Several that go out one behind the other, all or none.
  bool post(const std::vector<Words>& commands);

  // Thread-safe. An answer that is an error is a `remote` error here. `unavailable` where it was not sent;
  // `interrupted` or `timeout` where it may have been done.
  Task<Result<Reply>> ask(std::vector<std::string> words);

  // Waits until Redis is there, for as long as the options let a connection take; says what is wrong where it is not.
  Task<Result<>> wait_until_connected();

  // Thread-safe, all of these.
  bool is_connected() const { return connected_.load(std::memory_order_acquire); }
  // A number for each connection, and another one when it is renewed; 0 while there is none.
  std::uint64_t connection() const { return is_connected() ? connections_.load() : 0; }
  // Redis has lost what was written over this connection, as it would have with a new one.
  void renew() { ++connections_; }
  struct Figures {
    bool connected = false;
    std::uint64_t connections = 0;  // made or renewed until now
    std::uint64_t commands = 0;     // sent until now, without those that keep the connection
    std::uint64_t failed = 0;       // of these: Redis refused them, or the connection broke
    std::uint64_t dropped = 0;      // not sent
    std::size_t queued = 0;         // now
  };
  Figures figures() const;
  // Why there is no connection; empty where there is one.
  std::string why_away() const;
  const RedisUrl& url() const { return options_.url; }

 private:
  using Answer = Delivery<Result<Reply>>;
  // A command that has not been answered.
  struct Sent {
    std::shared_ptr<Answer> answer;  // none where nobody waits
    std::size_t bytes = 0;
    Clock::Monotonic at;
    bool is_ours = false;  // keeps the connection
  };

  Task<> run();
  // Connects and introduces itself.
  Task<Result<>> open();
  Task<Result<>> greet();
  Task<Result<Reply>> exchange(Words words);
  // Until the connection ends.
  Task<Error> serve();
  Task<> write_commands();
  Task<Error> read_replies();
  Result<> take(Reply reply);
  // Looks after whatever takes too long.
  Task<> watch();
  void look(Clock::Monotonic now);
  void break_off(std::string why);
  void set_there();
  void set_away(const Error& why);
  bool queue(std::string_view bytes, std::size_t commands, const std::shared_ptr<Answer>& answer, bool is_ours);

  boost::asio::io_context& io_;
  const ClientOptions options_;
  const SystemClock clock_;
  const std::shared_ptr<net::NameLookup> names_;
  net::Deadlines deadlines_;
  TaskGroup tasks_;
  Bell work_;  // something is to be written, or the connection has ended
  boost::asio::steady_timer pause_;
  net::Connecting* connecting_ = nullptr;
  net::Stream stream_;  // empty where there is none
  std::optional<ReplyReader> reader_;
  std::optional<Clock::Monotonic> greeting_since_;
  Clock::Monotonic heard_{};
  std::string why_broken_;    // where this side ended the connection
  bool is_open_ = false;      // the connection, for who writes
  bool has_logged_ = false;   // that it is away, and why
  bool has_refused_ = false;  // on this connection, and the log has it
  bool stopped_ = false;

  std::atomic<bool> connected_ = false;
  std::atomic<std::uint64_t> connections_ = 0;
  std::atomic<std::uint64_t> commands_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;

  mutable std::mutex mutex_;
  std::string outgoing_;  // not written yet
  std::deque<Sent> unanswered_;
  std::size_t queued_bytes_ = 0;
  bool is_woken_ = false;
  std::string why_away_ = "not connected yet";
  std::vector<std::shared_ptr<DeliveryBell>> waiting_for_connection_;
};

}  // namespace proteus::redis
