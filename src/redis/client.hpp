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
#include "base/tasks/delivery.hpp"
#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "net/http_client/connecting.hpp"
#include "net/http_client/name_lookup.hpp"
#include "net/io/deadlines.hpp"
#include "net/io/stream.hpp"
#include "net/io/tls.hpp"
#include "redis/redis_url.hpp"
#include "redis/reply.hpp"

namespace proteus::redis {

struct ClientOptions {
  RedisUrl url;
  std::shared_ptr<net::NameLookup> names = {};  // null: the client makes its own
  ReplyLimits replies = {};
  // Limits of what waits to be sent or answered.
  std::size_t queued_bytes = std::size_t{32} << 20U;
  std::size_t queued_commands = 100'000;
  std::chrono::milliseconds connect_timeout{3'000};
  // If Redis does not answer for this long, the connection is closed.
  std::chrono::milliseconds answer_timeout{2'000};
  // How often an idle connection is checked.
  std::chrono::milliseconds ping_every{2'000};
  std::chrono::milliseconds first_pause{50};
  std::chrono::milliseconds longest_pause{2'000};
};

using Words = std::vector<std::string_view>;

// A connection to a Redis, which reconnects automatically. Commands are sent in the order they are given, without
// waiting for earlier answers. Without a connection nothing is queued: a command fails at once.
//
// The connection and the timers belong to the thread of the io_context; `post`, `ask` and the figures are thread-safe.
// `stop` must complete before the Client is destroyed.
class Client {
 public:
  Client(boost::asio::io_context& io, ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Thread-safe.
  void start();
  // Must be called on the thread of the io_context. Commands without an answer fail.
  Task<> stop();

  // Thread-safe. For commands whose answer nobody needs; it is read and dropped. Returns false if the command is not
  // sent.
  bool post(const Words& words);
  // Sends several commands, one directly after the other, all or none.
  bool post(const std::vector<Words>& commands);

  // Thread-safe. An answer that is an error is a `remote` error here. Fails with `unavailable` if the command was not
  // sent, and with `interrupted` if it may have been executed.
  Task<Result<Reply>> ask(std::vector<std::string> words);

  // Waits until Redis is connected, at most for the connect timeout. Fails with the reason if it is not.
  Task<Result<>> wait_until_connected();

  // The following functions are thread-safe.
  bool is_connected() const { return connected_.load(std::memory_order_acquire); }
  // Returns the number of the current connection; 0 if there is none. A renewed connection has another number.
  std::uint64_t connection() const { return is_connected() ? connections_.load() : 0; }
  // Gives the connection a new number, because Redis has lost what was written over it, as if it were another Redis.
  void renew() { ++connections_; }
  // Returns how many of the posted commands Redis has refused so far.
  std::uint64_t refused() const { return refused_.load(); }
  struct Figures {
    bool connected = false;
    std::uint64_t connections = 0;  // made or renewed so far
    std::uint64_t commands = 0;     // queued so far, without those that check the connection
    std::uint64_t failed = 0;       // of these: Redis refused them or the connection broke
    std::uint64_t dropped = 0;      // rejected: no connection or no room
    std::size_t queued = 0;         // commands without an answer now
  };
  Figures figures() const;
  // Returns why there is no connection; empty if there is one.
  std::string why_away() const;
  const RedisUrl& url() const { return options_.url; }

 private:
  using Answer = Delivery<Result<Reply>>;
  // A command that has not been answered.
  struct Sent {
    std::shared_ptr<Answer> answer;  // null if nobody waits
    std::size_t bytes = 0;
    Clock::Monotonic at;
    bool is_ours = false;  // checks the connection
  };

  Task<> run();
  // Connects and greets Redis.
  Task<Result<>> open();
  Result<net::TlsContext> tls();
  Task<Result<>> greet();
  Task<Result<Reply>> exchange(Words words);
  // Uses the connection until it ends. Returns why it has ended.
  Task<Error> serve();
  Task<> write_commands();
  Task<Error> read_replies();
  Result<> take(Reply reply);
  // Enforces the timeouts.
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
  std::optional<net::TlsContext> tls_;
  TaskGroup tasks_;
  Bell work_;  // there are bytes to write, or the connection has ended
  boost::asio::steady_timer pause_;
  net::Connecting* connecting_ = nullptr;
  net::Stream stream_;  // empty if there is no connection
  std::optional<ReplyReader> reader_;
  std::optional<Clock::Monotonic> greeting_since_;
  Clock::Monotonic heard_{};
  std::string why_broken_;    // why this side ended the connection, if it did
  bool is_open_ = false;      // whether `write_commands` goes on
  bool has_logged_ = false;   // the log says that Redis is away
  bool has_refused_ = false;  // the log has a refusal on this connection
  bool stopped_ = false;

  std::atomic<bool> connected_ = false;
  std::atomic<std::uint64_t> connections_ = 0;
  std::atomic<std::uint64_t> commands_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
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
