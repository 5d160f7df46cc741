#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/log/refusal_log.hpp"
#include "base/tasks/task.hpp"
#include "net/http_server/exchange.hpp"
#include "net/http_server/http_limits.hpp"
#include "net/http_server/read_memory.hpp"
#include "net/http_server/trusted_proxies.hpp"
#include "net/io/tls.hpp"
#include "net/io/workers.hpp"

namespace proteus::net {

class HttpWorker;

const Clock& system_clock();

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // numeric; "::" includes IPv4
  std::uint16_t port = 0;             // 0 for any free port; see `local_port`
  int backlog = 1024;
  std::optional<TlsContext> tls = std::nullopt;
  // True if the clients are other processes of the cluster: each connection is a link that carries many streams. See
  // multiplexer.hpp.
  bool is_multiplexed = false;
  HttpLimits limits = {};
  std::chrono::milliseconds sweep_interval = std::chrono::seconds(1);
  const Clock* clock = &system_clock();  // must outlive the server
  RefusalLog* refusals = nullptr;        // notified of requests that never reach the handler; must outlive the server
  std::vector<std::string> trusted_proxies = {};  // networks and addresses; see TrustedProxies
};

// An HTTP/1.1 server: one listening socket and its connections on each worker. The workers must outlive it, and must be
// running whenever it is drained, stopped or destroyed. Member functions belong to the owner's thread, which is not a
// worker, except `drain` (any thread, once) and those that state otherwise.
class HttpServer {
 public:
  HttpServer(Workers& workers, HttpServerOptions options, HttpHandler handler);
  // Stops the server, and blocks until that is done.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Opens the sockets and starts serving. Must be called only once.
  Result<> listen();
  std::uint16_t local_port() const { return port_; }

  // Replaces the certificate for new connections. Thread-safe.
  void set_tls(const TlsContext& tls);

  // Stops accepting, closes idle connections, and notifies running exchanges (`Exchange::on_drain`), which may finish.
  // Cancels what is left after `grace`. Completes when nothing is left. Must not be cancelled.
  //
  // A load balancer that reuses connections may send a request just when the server closes the connection, and then
  // does not know whether the request was carried out. With `idle`, idle connections therefore stay open for that long,
  // each for one more request; four times as long if they have not had a request yet.
  Task<> drain(std::chrono::milliseconds grace, std::chrono::milliseconds idle = {});

  // Drains without grace, and blocks until that is done.
  void stop();

  // `connections` and `memory` are thread-safe.
  std::size_t connections() const;
  const ReadMemory& memory() const { return memory_; }

 private:
  HttpServerOptions options_;
  ReadMemory memory_;
  const TrustedProxies proxies_;
  std::uint16_t port_ = 0;
  bool serving_ = false;
  std::vector<std::unique_ptr<HttpWorker>> parts_;
};

}  // namespace proteus::net
