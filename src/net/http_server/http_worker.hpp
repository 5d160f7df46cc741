#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "base/tasks/task_group.hpp"
#include "net/http_server/http_connection.hpp"
#include "net/io/multiplexer.hpp"
#include "net/io/tcp_socket.hpp"
#include "net/io/tls.hpp"

namespace proteus::net {

// The part of an HTTP server that lives on one worker: its connections and their deadlines. All member functions except
// the constructor and `connections` must be called on the thread of `context`. Must be fully drained before it is
// destroyed.
class HttpWorker {
 public:
  // All workers of the server share `memory`. What the references and pointers refer to must outlive the worker.
  HttpWorker(boost::asio::io_context& context, HttpLimits limits, ReadMemory& memory, HttpHandler handler,
             const Clock& clock, std::chrono::milliseconds sweep_interval, RefusalLog* refusals = nullptr,
             const TrustedProxies* proxies = nullptr);

  // Starts the sweeps.
  void start();
  void accept_from(TcpAcceptor acceptor, std::optional<TlsContext> tls, bool is_multiplexed = false);
  // Serves an accepted connection, or rejects it if there are too many.
  void adopt(Stream stream);
  void set_tls(TlsContext tls);

  // Updates the time and enforces the deadlines of all connections, once.
  void sweep();

  // Stops accepting, closes idle connections at once or after `idle`, and cancels all connections after `grace`.
  void begin_drain(std::chrono::milliseconds grace, std::chrono::milliseconds idle = {});
  // Completes when nothing is left. Only after `begin_drain`.
  Task<> finish_drain();

  std::size_t connections() const { return count_.load(std::memory_order_relaxed); }
  boost::asio::io_context& context() { return context_; }

 private:
  Task<> accept();
  bool adopt(TcpSocket socket);
  void accept_waiting();
  Task<> keep_sweeping();
  Task<> close_idle_after(std::chrono::milliseconds time);
  void close_idle();
  Task<> serve(Stream stream);
  Task<> serve_link(Stream stream);
  void begin_serving(Stream stream);
  bool is_full() const;
  void refuse(Stream stream);
  void read_links();
  void abort_all();

  boost::asio::io_context& context_;
  const Clock& clock_;
  HttpDependencies dependencies_;
  std::optional<TcpAcceptor> acceptor_;
  std::optional<TlsContext> tls_;
  bool is_multiplexed_ = false;
  std::list<std::shared_ptr<Connection>> connections_;
  std::list<std::shared_ptr<Multiplexer>> links_;
  std::atomic<std::size_t> count_ = 0;
  Clock::Monotonic drain_ends_ = Clock::Monotonic::max();
  Clock::Wall dated_ = Clock::Wall::min();
  TaskGroup service_;  // accepting and sweeping
  TaskGroup linked_;   // the links that connections use
  TaskGroup running_;  // the connections
};

}  // namespace proteus::net
