#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/log/refusal_log.hpp"
#include "base/tasks/task.hpp"
#include "net/http_server/exchange.hpp"
#include "net/http_server/http_limits.hpp"
#include "net/http_server/request_reader.hpp"
#include "net/io/stream.hpp"

namespace proteus::net {

class Connection;

// What the connections of one worker share. `now` moves only with the sweep, so that deadlines cost no system call.
struct HttpDependencies {
  HttpLimits limits;
  HttpHandler handler;
  ReadMemory* memory = nullptr;  // shared by all workers of the server; outlives them
  Clock::Monotonic now;
  std::chrono::milliseconds tick{0};  // the longest that `now` may lag
  std::string date_line;
  bool draining = false;            // each connection sends at most one more response
  bool closes_idle = false;         // idle connections that have had a request are closed
  bool closes_unused = false;       // idle connections without any request are closed, too
  std::list<Connection*> arriving;  // connections whose requests hold memory of the strangers' budget; oldest first
  RefusalLog* refusals = nullptr;
  const TrustedProxies* proxies = nullptr;  // null for none; outlives the connections

  void report(const Refusal& refusal, const Peer& peer) const;
};

// A connection of a client: reads requests and runs the handler for each, in order. Belongs to one thread. Lives in a
// shared_ptr; its owner spawns `run` and calls `sweep` regularly.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpDependencies& dependencies, Stream stream);

  // Runs until either side closes, and then closes the stream.
  Task<> run();

  // Enforces the deadline of the current activity.
  void sweep();
  // Notifies the running exchange, if there is one.
  void begin_drain();
  // Closes an idle connection if HttpDependencies requires it and no unread request has arrived.
  void close_if_idle();
  // Ends the connection after the response; see `Exchange::end_connection`.
  void end();
  // Closes the connection at once and drops unsent bytes.
  void abort();

 private:
  friend class Exchange;

  enum class Doing : std::uint8_t { shaking_hands, reading, handling, writing, lingering };

  // Progress of a transfer. Determines a deadline that a trickle of bytes cannot postpone.
  struct Progress {
    Clock::Monotonic since;
    std::size_t bytes = 0;
  };

  // Reads until a head or a whole request has arrived. Returns false if none will come and nothing is left to answer.
  Task<bool> read_request();
  Task<> serve_request();
  Task<bool> shake_hands();
  Task<> refuse(const Refusal& refusal);
  // Refuses a request that is still arriving, without waiting, and frees its memory. The connection then ends.
  void cut_off(const Refusal& refusal);
  // Frees memory of the strangers' budget: refuses the oldest request of this worker that holds some and is still
  // arriving. Otherwise, requests whose heads never end would keep out callers who could show a credential. Returns
  // false if there is none.
  bool displace_oldest();
  void set_arriving(bool arriving);
  Task<> linger();

  Task<Waited> wait_readable();
  void watch();
  void on_readable(ErrorCode error);
  void call_drain();
  void call_gone();
  bool may_close_idle() const;

  // Sends `out_`.
  bool try_flush();
  Task<bool> flush();

  void expect_bytes();
  Clock::Monotonic deadline_after(std::chrono::milliseconds time) const;
  Clock::Monotonic deadline_for(const Progress& progress, std::chrono::milliseconds stall) const;
  std::string answer_of(const Refusal& refusal) const;

  static constexpr Clock::Monotonic kNever = Clock::Monotonic::max();

  HttpDependencies& dependencies_;
  Stream stream_;
  RequestReader reader_;
  Exchange* exchange_ = nullptr;  // set while a handler runs

  Doing doing_ = Doing::reading;
  RequestReader::Phase expecting_ = RequestReader::Phase::idle;
  Clock::Monotonic deadline_ = kNever;
  Progress body_;

  std::string head_;                   // of the response
  std::vector<std::string_view> out_;  // parts that are still to be written
  bool keep_alive_ = false;            // as stated in the response
  bool broken_ = false;                // nothing more can be written
  bool is_used_ = false;               // a request has arrived
  std::optional<std::list<Connection*>::iterator> arriving_;

  bool watching_ = false;
  std::move_only_function<void(ErrorCode)> reader_waits_;  // called when the watch finds something
};

}  // namespace proteus::net
