#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "net/http/url.hpp"
#include "net/io/tcp_stream.hpp"
#include "net/io/tls.hpp"
#include "net/testing/test_run.hpp"

// For tests: a server that does exactly what a script says, right or wrong.
namespace proteus::net::test {

struct Step {
  enum class Kind { receive, send, trickle, pause, reset, hold, start_tls };
  Kind kind;
  std::string bytes = {};
};
// Receives a whole request, by its Content-Length, into `requests`.
inline Step receive() { return {Step::Kind::receive}; }
inline Step send(std::string bytes) { return {Step::Kind::send, std::move(bytes)}; }
// Sends byte by byte.
inline Step trickle(std::string bytes) { return {Step::Kind::trickle, std::move(bytes)}; }
// Waits until the test calls `resume`.
inline Step pause() { return {Step::Kind::pause}; }
inline Step reset() { return {Step::Kind::reset}; }
// Sends nothing more and waits until the client closes.
inline Step hold() { return {Step::Kind::hold}; }
inline Step start_tls() { return {Step::Kind::start_tls}; }
using Script = std::vector<Step>;

class ScriptedServer {
 public:
  // The n-th connection gets the n-th script; further connections are closed at once. A connection is closed after its
  // script.
  ScriptedServer(boost::asio::io_context& io, std::vector<Script> scripts, const char* address = "127.0.0.1",
                 std::optional<TlsContext> tls = {})
      : io_(io),
        scripts_(std::move(scripts)),
        tls_(std::move(tls)),
        acceptor_(io, {boost::asio::ip::make_address(address), 0}),
        resumed_(io.get_executor()),
        group_(io.get_executor()) {
    group_.spawn("acceptor", accept());
  }
  ~ScriptedServer() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    run(io_, stop());
  }
  ScriptedServer(const ScriptedServer&) = delete;

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  Url url(std::string_view path = "/", std::string_view origin = "http://127.0.0.1") const {
    return Url::parse(fmt::format("{}:{}{}", origin, port(), path)).value();
  }

  void resume() {
    ++resumes_;
    resumed_.ring();
  }

  std::vector<std::string> requests;
  std::size_t connections = 0;
  std::size_t closed_by_client = 0;  // in a `hold` step

 private:
  Task<> accept() {
    for (;;) {
      TcpSocket socket(io_);
      co_await acceptor_.async_accept(socket, boost::asio::use_awaitable);
      const std::size_t index = connections++;
      if (index < scripts_.size()) group_.spawn("connection", serve(std::move(socket), scripts_[index]));
    }
  }

  // A coroutine, because a task group must be cancelled on its executor.
  Task<> stop() {
    group_.cancel();
    co_await group_.join();
  }

  Task<> serve(TcpSocket socket, Script script) {
    const int descriptor = socket.native_handle();
    Stream stream = tcp_stream(std::move(socket));
    std::string received;
    for (const Step& step : script) {
      switch (step.kind) {
        case Step::Kind::receive:
          if (!co_await receive_request(stream, received)) co_return;
          break;
        case Step::Kind::send: {
          const std::string_view part = step.bytes;
          if ((co_await stream.write(std::span(&part, 1))).error) co_return;
          break;
        }
        case Step::Kind::trickle:
          for (const char& byte : step.bytes) {
            const std::string_view part(&byte, 1);
            if ((co_await stream.write(std::span(&part, 1))).error) co_return;
            for (int i = 0; i < 3; ++i)
              co_await boost::asio::post(io_, boost::asio::use_awaitable);
          }
          break;
        case Step::Kind::reset: {
          const linger now{.l_onoff = 1, .l_linger = 0};
          ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof now);
          co_return;
        }
        case Step::Kind::hold: {
          std::array<char, 100> ignored;
          while (!(co_await stream.read_some(ignored)).error) {
          }
          ++closed_by_client;
          co_return;
        }
        case Step::Kind::start_tls:
          stream = tls_server_stream(std::move(stream), *tls_);
          if (!co_await stream.handshake()) co_return;
          break;
        case Step::Kind::pause:
          while (resumes_ == 0)
            co_await resumed_.wait_quietly();
          --resumes_;
          break;
      }
    }
  }

  Task<bool> receive_request(Stream& stream, std::string& received) {
    std::array<char, 4096> bytes;
    for (;;) {
      if (const auto head = received.find("\r\n\r\n"); head != std::string::npos) {
        std::size_t size = head + 4;
        if (const auto at = received.find("Content-Length: "); at < head)
          size += std::stoul(received.substr(at + 16, 20));
        if (received.size() >= size) {
          requests.push_back(received.substr(0, size));
          received.erase(0, size);
          co_return true;
        }
      }
      const auto [error, size] = co_await stream.read_some(bytes);
      if (error) co_return false;
      received.append(bytes.data(), size);
    }
  }

  boost::asio::io_context& io_;
  std::vector<Script> scripts_;
  std::optional<TlsContext> tls_;
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type> acceptor_;
  Bell resumed_;
  int resumes_ = 0;
  TaskGroup group_;
};

}  // namespace proteus::net::test
