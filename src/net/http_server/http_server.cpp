#include "net/http_server/http_server.hpp"

#include <latch>
#include <numeric>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/http_server/http_worker.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;
using KeepAliveIdle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
using KeepAliveInterval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
using KeepAliveCount = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>;
using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

// Sockets with SO_REUSEPORT would also share their port with a second server, unnoticed. So the first socket takes the
// port alone, and shares it once it listens.
enum class Port : std::uint8_t { taken, shared };

Result<TcpAcceptor> open(asio::io_context& context, const asio::ip::tcp::endpoint& endpoint, int backlog, Port port) {
  TcpAcceptor acceptor(context.get_executor());
  ErrorCode error = open_socket(acceptor, endpoint.protocol());
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error && port == Port::shared) acceptor.set_option(ReusePort(true), error);
  if (!error && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);
  // Connections inherit these options. A client that has vanished is noticed within two minutes, even on an idle
  // stream.
  if (!error) acceptor.set_option(asio::socket_base::keep_alive(true), error);
  if (!error) acceptor.set_option(KeepAliveIdle(60), error);
  if (!error) acceptor.set_option(KeepAliveInterval(15), error);
  if (!error) acceptor.set_option(KeepAliveCount(4), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(backlog, error);
  if (!error && port == Port::taken) acceptor.set_option(ReusePort(true), error);
  if (error) {
    return std::unexpected(errors::unreachable(fmt::format(
        "cannot listen on {} port {}: {}", endpoint.address().to_string(), endpoint.port(), error.message())));
  }
  return acceptor;
}

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

HttpServer::HttpServer(Workers& workers, HttpServerOptions options, HttpHandler handler)
    : options_(std::move(options)), memory_(options_.limits), proxies_(options_.trusted_proxies) {
  for (std::size_t i = 0; i < workers.size(); ++i) {
    parts_.push_back(std::make_unique<HttpWorker>(workers.at(i), options_.limits, memory_, handler, *options_.clock,
                                                  options_.sweep_interval, options_.refusals,
                                                  proxies_.empty() ? nullptr : &proxies_));
  }
}

HttpServer::~HttpServer() { stop(); }

Result<> HttpServer::listen() {
  ErrorCode error;
  const auto address = asio::ip::make_address(options_.address, error);
  if (error) return std::unexpected(errors::invalid(fmt::format("{} is not an IP address", options_.address)));
  asio::ip::tcp::endpoint endpoint(address, options_.port);
  std::vector<TcpAcceptor> acceptors;
  for (const auto& part : parts_) {
    auto acceptor = open(part->context(), endpoint, options_.backlog, acceptors.empty() ? Port::taken : Port::shared);
    if (!acceptor) return std::unexpected(acceptor.error());
    endpoint.port(acceptor->local_endpoint().port());
    acceptors.push_back(std::move(*acceptor));
  }
  port_ = endpoint.port();
  serving_ = true;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    asio::post(parts_[i]->context(), [part = parts_[i].get(), acceptor = std::move(acceptors[i]), tls = options_.tls,
                                      multiplexed = options_.is_multiplexed]() mutable {
      part->start();
      part->accept_from(std::move(acceptor), std::move(tls), multiplexed);
    });
  }
  return {};
}

void HttpServer::set_tls(const TlsContext& tls) {
  for (const auto& part : parts_) {
    asio::post(part->context(), [part = part.get(), tls] { part->set_tls(tls); });
  }
}

Task<> HttpServer::drain(std::chrono::milliseconds grace, std::chrono::milliseconds idle) {
  for (const auto& part : parts_) {
    asio::post(part->context(), [part = part.get(), grace, idle] { part->begin_drain(grace, idle); });
  }
  for (const auto& part : parts_) {
    co_await asio::co_spawn(part->context(), part->finish_drain(), asio::use_awaitable);
  }
}

void HttpServer::stop() {
  if (!std::exchange(serving_, false)) return;
  std::latch left(static_cast<std::ptrdiff_t>(parts_.size()));
  for (const auto& part : parts_) {
    asio::post(part->context(), [part = part.get()] { part->begin_drain(std::chrono::milliseconds(0)); });
    asio::co_spawn(part->context(), part->finish_drain(), [&left](const std::exception_ptr&) { left.count_down(); });
  }
  left.wait();
}

std::size_t HttpServer::connections() const {
  return std::accumulate(parts_.begin(), parts_.end(), std::size_t{0},
                         [](std::size_t sum, const auto& part) { return sum + part->connections(); });
}

}  // namespace proteus::net
