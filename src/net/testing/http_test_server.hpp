#pragma once

// For tests: an HTTP server on a loopback port, with a manual clock.

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>

#include <boost/asio/post.hpp>

#include "base/clock.hpp"
#include "net/http_server/http_server.hpp"
#include "net/testing/raw_client.hpp"

namespace proteus::net {

namespace test {
inline constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
}

// Runs a function on a worker and waits until it has ended.
template <class Function>
void run_on(boost::asio::io_context& context, Function function) {
  std::promise<void> done;
  boost::asio::post(context, [&] {
    function();
    done.set_value();
  });
  done.get_future().wait();
}

// Moves only by `advance`, from any thread. Counts how often it was read.
class TestClock final : public Clock {
 public:
  Monotonic now() const override {
    reads_.fetch_add(1);
    return Monotonic(std::chrono::hours(1) + std::chrono::milliseconds(elapsed_.load()));
  }
  Wall wall() const override { return Wall(std::chrono::milliseconds(elapsed_.load())); }

  void advance(std::chrono::milliseconds by) { elapsed_.fetch_add(by.count()); }
  std::uint64_t reads() const { return reads_.load(); }

 private:
  std::atomic<std::int64_t> elapsed_ = 0;
  mutable std::atomic<std::uint64_t> reads_ = 0;
};

class TestServer {
 public:
  // What the handler is called with: whole requests, or heads whose bodies have not been read.
  enum class Calls : std::uint8_t { with_requests, with_heads };

  explicit TestServer(HttpHandler handler, HttpServerOptions options = {}, std::size_t workers = 1,
                      Calls calls = Calls::with_requests)
      : workers_(workers),
        server_(workers_, adapt(std::move(options)),
                calls == Calls::with_heads ? std::move(handler) : with_body(std::move(handler))) {
    workers_.run();
    if (const auto listening = server_.listen(); !listening) throw std::runtime_error(listening.error().message());
  }

  std::uint16_t port() const { return server_.local_port(); }
  RawClient connect(int receive_buffer = 0) const { return RawClient(port(), receive_buffer); }
  HttpServer& server() { return server_; }
  Workers& workers() { return workers_; }

  // Advances the clock, and returns when the deadlines that passed have taken effect. Only for one worker, because it
  // counts the sweeps by their readings of the clock.
  void advance(std::chrono::milliseconds by) {
    settle();
    clock_.advance(by);
    const std::uint64_t reads = clock_.reads();
    while (clock_.reads() < reads + 2 && server_.connections() > 0)
      std::this_thread::yield();
  }

  // Lets the workers handle everything that has been sent or posted so far.
  void settle() {
    for (int i = 0; i < 4; ++i) {
      for (std::size_t worker = 0; worker < workers_.size(); ++worker)
        run_on(workers_.at(worker), [] {});
    }
  }

  void wait_for_connections(std::size_t count) {
    while (server_.connections() != count)
      std::this_thread::yield();
  }

 private:
  HttpServerOptions adapt(HttpServerOptions options) {
    options.clock = &clock_;
    options.sweep_interval = std::chrono::milliseconds(1);
    return options;
  }

  TestClock clock_;
  Workers workers_;
  HttpServer server_;
};

}  // namespace proteus::net
