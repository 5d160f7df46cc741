#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/refusal_log.hpp"
#include "base/task.hpp"
#include "net/http/http_limits.hpp"
#include "net/http/read_memory.hpp"
#include "net/http_server/exchange.hpp"
#include "net/http_server/trusted_proxies.hpp"
#include "net/io/tls.hpp"
#include "net/io/workers.hpp"

namespace proteus::net {

class HttpWorker;

const Clock& system_clock();

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // numeric; "::" takes IPv4 as well
  std::uint16_t port = 0;             // 0: any free one, see `local_port`
  int backlog = 1024;
  std::optional<TlsContext> tls = std::nullopt;
  // Clients are our own processes: each connection is a link that carries many. See multiplexer.hpp.
  bool is_multiplexed = false;
  HttpLimits limits = {};
  std::chrono::milliseconds sweep_interval = std::chrono::seconds(1);
  const Clock* clock = &system_clock();           // outlives the server
  RefusalLog* refusals = nullptr;                 // told of requests that never reach the handler; outlives the server
  std::vector<std::string> trusted_proxies = {};  // networks and addresses: see TrustedProxies
};

// An HTTP/1.1 server: one listening socket and its connections on each worker. The workers must outlive it,
// and must run whenever it is drained, stopped or destroyed. Member functions belong to the owner's thread,
// which is no worker, except `drain` (anywhere, once) and those that say otherwise.
class HttpServer {
 public:
  HttpServer(Workers& workers, HttpServerOptions options, HttpHandler handler);
  // Stops, unless that is done.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Opens the sockets and serves from then on; once.
  Result<> listen();
  std::uint16_t local_port() const { return port_; }

  // For connections from now on. Any thread.
  void set_tls(const TlsContext& tls);

  // Stops accepting and closes idle connections; what runs may finish, and is told so (`Exchange::on_drain`).
  // What is left after `grace` is cancelled. Completes when nothing is left. Must not be cancelled itself.
  //
  // A balancer that keeps connections may send something by one just when it is closed, and does not know then whether
  // that was carried out. Given `idle`, idle ones stay open for so long, each for one more request.
  Task<> drain(std::chrono::milliseconds grace, std::chrono::milliseconds idle = {});

  // Drains without grace, and blocks until that is done.
  void stop();

  // Any thread.
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
