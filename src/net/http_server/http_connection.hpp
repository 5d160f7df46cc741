#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/refusal_log.hpp"
#include "base/task.hpp"
#include "net/http/http_limits.hpp"
#include "net/http_server/exchange.hpp"
#include "net/http_server/request_reader.hpp"
#include "net/io/stream.hpp"

namespace proteus::net {

// What the connections of one worker share. `now` moves only with the sweep, so that deadlines cost no system
// call.
struct HttpDependencies {
  HttpLimits limits;
  HttpHandler handler;
  ReadMemory* memory = nullptr;  // of all workers of the server, and outlives them
  Clock::Monotonic now;
  std::chrono::milliseconds tick{0};  // how late `now` may be
  std::string date_line;
  bool draining = false;       // each connection has one more answer at most
  bool closes_idle = false;    // and where nothing runs none
  bool closes_unused = false;  // not even where nothing was asked yet
  RefusalLog* refusals = nullptr;
  const TrustedProxies* proxies = nullptr;  // none where it is null; outlives the connections

  void report(const Refusal& refusal, const Peer& peer) const;
};

// One client's connection: reads requests, runs the handler for each, in order. Belongs to one thread.
// Whoever spawns `run` keeps it in a shared_ptr and calls `sweep` now and then.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(const HttpDependencies& dependencies, Stream stream);

  // Until either side closes. The stream is closed when it ends.
  Task<> run();

  // Enforces the deadline, whichever applies to what the connection does.
  void sweep();
  // Tells the running exchange, where there is one.
  void begin_drain();
  // As what is shared says, unless a request has come that was not read yet.
  void close_if_idle();
  // At once.
  void abort();

 private:
  friend class Exchange;

  enum class Doing : std::uint8_t { shaking_hands, reading, handling, writing, lingering };

  // Moving bytes against a deadline that slowness does not push away.
  struct Progress {
    Clock::Monotonic since;
    std::size_t bytes = 0;
  };

  // Reads on until a head is here, or a whole request. False: there will be none, and there is nothing to answer.
  Task<bool> read_request();
  Task<> serve_request();
  Task<bool> shake_hands();
  Task<> refuse(const Refusal& refusal);
  Task<> linger();

  Task<Waited> wait_readable();
  void watch();
  void on_readable(ErrorCode error);
  void call_drain();
  bool may_close_idle() const;

  // Sends `out_`.
  bool try_flush();
  Task<bool> flush();

  void expect_bytes();
  Clock::Monotonic deadline_after(std::chrono::milliseconds time) const;
  Clock::Monotonic deadline_for(const Progress& progress, std::chrono::milliseconds stall) const;
  std::string answer_of(const Refusal& refusal) const;

  static constexpr Clock::Monotonic kNever = Clock::Monotonic::max();

  const HttpDependencies& dependencies_;
  Stream stream_;
  RequestReader reader_;
  Exchange* exchange_ = nullptr;  // while a handler runs

  Doing doing_ = Doing::reading;
  RequestReader::Phase expecting_ = RequestReader::Phase::idle;
  Clock::Monotonic deadline_ = kNever;
  Progress body_;

  std::string head_;                   // of the answer
  std::vector<std::string_view> out_;  // what is still to be written
  bool keep_alive_ = false;            // as the answer said
  bool broken_ = false;                // nothing more can be written
  bool is_used_ = false;               // something was asked

  bool watching_ = false;
  std::move_only_function<void(ErrorCode)> reader_waits_;  // for the watch to find something
};

}  // namespace proteus::net
