#include "net/http_server/http_worker.hpp"

#include <array>

#include <boost/asio/steady_timer.hpp>
#include <fmt/chrono.h>

#include "base/log/log.hpp"
#include "base/tasks/waiting.hpp"
#include "net/http_server/refusal.hpp"
#include "net/io/completion.hpp"
#include "net/io/tcp_stream.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

// If no descriptor is left, an immediate retry would only spin.
constexpr auto kAcceptPause = std::chrono::milliseconds(100);
constexpr int kUnusedLonger = 3;
constexpr int kMostWaiting = 1024;  // accepted when a drain begins; clients could connect as fast as they are accepted

std::string date_line(Clock::Wall time) {
  return fmt::format("Date: {:%a, %d %b %Y %H:%M:%S} GMT\r\n", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

}  // namespace

HttpWorker::HttpWorker(asio::io_context& context, HttpLimits limits, ReadMemory& memory, HttpHandler handler,
                       const Clock& clock, std::chrono::milliseconds sweep_interval, RefusalLog* refusals,
                       const TrustedProxies* proxies)
    : context_(context),
      clock_(clock),
      service_(context.get_executor()),
      linked_(context.get_executor()),
      running_(context.get_executor()) {
  dependencies_.limits = limits;
  dependencies_.memory = &memory;
  dependencies_.handler = std::move(handler);
  dependencies_.refusals = refusals;
  dependencies_.proxies = proxies;
  dependencies_.tick = sweep_interval;
  sweep();
}

void HttpWorker::start() { service_.spawn("sweep", keep_sweeping()); }

void HttpWorker::accept_from(TcpAcceptor acceptor, std::optional<TlsContext> tls, bool is_multiplexed) {
  acceptor_ = std::move(acceptor);
  tls_ = std::move(tls);
  is_multiplexed_ = is_multiplexed;
  service_.spawn("accept", accept());
}

void HttpWorker::set_tls(TlsContext tls) { tls_ = std::move(tls); }

Task<> HttpWorker::accept() {
  asio::steady_timer pause(context_);
  while (acceptor_->is_open()) {
    TcpSocket socket(context_.get_executor());
    auto [error] = co_await acceptor_->async_wait(TcpAcceptor::wait_read, kAwaited);
    if (!error) error = accept_socket(*acceptor_, socket);
    if (!error && adopt(std::move(socket))) continue;
    if (error == asio::error::would_block || !acceptor_->is_open()) continue;
    if (error) log::warning("cannot accept a connection: {}", error.message());
    pause.expires_after(kAcceptPause);
    co_await pause.async_wait(kAwaited);
  }
}

// Accepts connections that are already queued: their clients may have sent a request.
void HttpWorker::accept_waiting() {
  for (int i = 0; i < kMostWaiting; ++i) {
    TcpSocket socket(context_.get_executor());
    if (accept_socket(*acceptor_, socket) || !adopt(std::move(socket))) return;
  }
}

// Closes the connection and returns false if it cannot be served, for lack of memory for example.
bool HttpWorker::adopt(TcpSocket socket) {
  try {
    adopt(tcp_stream(std::move(socket)));
    return true;
  } catch (const std::exception& failed) {
    log::warning("cannot serve a connection: {}", failed.what());
    return false;
  }
}

void HttpWorker::adopt(Stream stream) {
  if (is_full()) return refuse(std::move(stream));
  if (tls_) stream = tls_server_stream(std::move(stream), *tls_);
  if (!is_multiplexed_) return begin_serving(std::move(stream));
  linked_.spawn("link", serve_link(std::move(stream)));
}

bool HttpWorker::is_full() const { return connections_.size() + linked_.size() >= dependencies_.limits.connections; }

void HttpWorker::refuse(Stream stream) {
  const Refusal refusal{503, "too many connections"};
  dependencies_.report(refusal, stream.peer());
  const std::string answer = refusal_answer(refusal, dependencies_.date_line);
  const std::string_view part = answer;
  // Nothing can be sent before the TLS handshake.
  if (stream.is_tls() == tls_.has_value()) stream.try_write({&part, 1});
  stream.close();
}

void HttpWorker::begin_serving(Stream stream) { running_.spawn("connection", serve(std::move(stream))); }

Task<> HttpWorker::serve_link(Stream stream) {
  Deadline deadline(context_.get_executor(), dependencies_.limits.handshake_time, dependencies_.limits.handshake_time);
  const auto shaken = co_await before(deadline, stream.handshake(), "the handshake of a peer");
  if (!shaken) {
    log::debug("{}: {}", stream.peer().address, shaken.error().message());
    co_return;
  }
  const auto link = std::make_shared<Multiplexer>(std::move(stream), [this](Stream one) {
    try {
      is_full() ? refuse(std::move(one)) : begin_serving(std::move(one));
    } catch (const std::exception& failed) {
      log::warning("cannot serve a connection: {}", failed.what());
    }
  });
  const auto place = links_.insert(links_.end(), link);
  const std::shared_ptr<void> forget(nullptr, [&](void*) { links_.erase(place); });
  link->start();
  co_await link->wait_for_end();
}

Task<> HttpWorker::serve(Stream stream) {
  struct Listed {
    Listed(HttpWorker& owner, std::shared_ptr<Connection> connection)
        : worker(owner), place(worker.connections_.insert(worker.connections_.end(), std::move(connection))) {
      worker.count_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Listed() {
      worker.connections_.erase(place);
      worker.count_.fetch_sub(1, std::memory_order_relaxed);
    }
    Listed(const Listed&) = delete;
    Listed& operator=(const Listed&) = delete;

    HttpWorker& worker;
    std::list<std::shared_ptr<Connection>>::iterator place;
  };
  const auto connection = std::make_shared<Connection>(dependencies_, std::move(stream));
  const Listed listed(*this, connection);
  co_await connection->run();
}

Task<> HttpWorker::keep_sweeping() {
  asio::steady_timer timer(context_);
  while (true) {
    timer.expires_after(dependencies_.tick);
    co_await timer.async_wait(asio::use_awaitable);
    sweep();
  }
}

void HttpWorker::sweep() {
  dependencies_.now = clock_.now();
  if (const auto wall = std::chrono::floor<std::chrono::seconds>(clock_.wall()); wall != dated_) {
    dated_ = wall;
    dependencies_.date_line = date_line(wall);
  }
  for (const auto& connection : connections_)
    connection->sweep();
  if (dependencies_.now >= drain_ends_) abort_all();
}

void HttpWorker::begin_drain(std::chrono::milliseconds grace, std::chrono::milliseconds idle) {
  dependencies_.draining = true;
  drain_ends_ = std::min(drain_ends_, clock_.now() + grace);
  idle = std::min(idle, grace);
  if (acceptor_ && acceptor_->is_open()) {
    if (idle.count() > 0) accept_waiting();
    ErrorCode ignored;
    acceptor_->close(ignored);
  }
  for (const auto& connection : connections_)
    connection->begin_drain();
  if (idle.count() > 0) {
    service_.spawn("closing idle connections", close_idle_after(idle));
  } else {
    dependencies_.closes_idle = dependencies_.closes_unused = true;
    close_idle();
  }
  if (grace == std::chrono::milliseconds(0)) abort_all();
}

Task<> HttpWorker::close_idle_after(std::chrono::milliseconds time) {
  asio::steady_timer timer(context_);
  timer.expires_after(time);
  co_await timer.async_wait(asio::use_awaitable);
  dependencies_.closes_idle = true;
  close_idle();
  // A client that has just connected is about to send a request.
  timer.expires_after(kUnusedLonger * time);
  co_await timer.async_wait(asio::use_awaitable);
  dependencies_.closes_unused = true;
  close_idle();
}

void HttpWorker::close_idle() {
  read_links();
  for (const auto& connection : connections_)
    connection->close_if_idle();
}

// Reads what has arrived on the links, so that requests in it are answered.
void HttpWorker::read_links() {
  for (const auto& link : std::vector(links_.begin(), links_.end())) {
    if (link->is_open()) link->read_now();
  }
}

void HttpWorker::abort_all() {
  for (const auto& connection : connections_)
    connection->abort();
  running_.cancel();
}

Task<> HttpWorker::finish_drain() {
  co_await running_.join();
  // Clients may have opened more streams meanwhile; those that have arrived by now are the last.
  read_links();
  co_await running_.join();
  for (const auto& link : links_)
    link->close();
  linked_.cancel();
  co_await linked_.join();
  co_await running_.join();
  service_.cancel();
  co_await service_.join();
}

}  // namespace proteus::net
