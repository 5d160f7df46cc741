#pragma once

// For tests: an HTTP server on a loopback port whose time moves only by hand, and a client that writes
// exactly the bytes it is told to.

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <boost/asio/post.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/clock.hpp"
#include "net/http_server.hpp"

namespace proteus::net {

struct Answer {
  int status = 0;
  std::string head;  // with the status line
  std::string body;  // decoded
};

// Blocks, for a few seconds at most.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
  }
  ~RawClient() { close(); }
  RawClient(RawClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), received_(std::move(other.received_)) {}
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return;  // the server closed; what it answered tells more
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  Answer receive(bool head_only = false) {
    Answer answer;
    std::size_t end = std::string::npos;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) throw std::runtime_error("closed before an answer; received: " + received_);
    }
    answer.head = received_.substr(0, end + 2);
    received_.erase(0, end + 4);
    std::from_chars(answer.head.data() + 9, answer.head.data() + 12, answer.status);
    if (head_only || answer.status == 100 || answer.status == 204) return answer;
    if (const auto length = field(answer, "Content-Length")) {
      answer.body = take(static_cast<std::size_t>(std::stoul(*length)));
    } else if (field(answer, "Transfer-Encoding")) {
      while (auto chunk = receive_chunk())
        answer.body += *chunk;
    } else {
      while (more())
        continue;
      answer.body = std::exchange(received_, {});
    }
    return answer;
  }

  // Of a stream; nothing at its end.
  std::optional<std::string> receive_chunk() {
    std::size_t end = std::string::npos;
    while ((end = received_.find("\r\n")) == std::string::npos) {
      if (!more()) throw std::runtime_error("cut off within a stream");
    }
    std::size_t size = 0;
    std::from_chars(received_.data(), received_.data() + end, size, 16);
    received_.erase(0, end + 2);
    std::string chunk = take(size + 2);
    chunk.resize(size);
    if (size == 0) return std::nullopt;
    return chunk;
  }

  // Whether the server closed, with nothing before that.
  bool at_end() {
    while (received_.empty() && more())
      continue;
    return received_.empty();
  }

  void shutdown() { ::shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

  static std::optional<std::string> field(const Answer& answer, std::string_view name) {
    std::string_view rest = answer.head;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find("\r\n"));
      rest.remove_prefix(line.size() + 2);
      const std::size_t colon = line.find(':');
      if (colon == name.size() && same_field_name(line.substr(0, colon), name)) {
        return std::string(line.substr(colon + 2));
      }
    }
    return std::nullopt;
  }

 private:
  bool more() {
    std::array<char, 16384> buffer;
    const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) throw std::runtime_error("the server did not react");
    if (got <= 0) return false;
    received_.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
  }

  std::string take(std::size_t size) {
    while (received_.size() < size) {
      if (!more()) throw std::runtime_error("cut off within a body");
    }
    std::string taken = received_.substr(0, size);
    received_.erase(0, size);
    return taken;
  }

  int socket_ = -1;
  std::string received_;
};

// Runs a function on a worker and waits for it.
template <class Function>
void run_on(boost::asio::io_context& context, Function function) {
  std::promise<void> done;
  boost::asio::post(context, [&] {
    function();
    done.set_value();
  });
  done.get_future().wait();
}

// Moves when told to, from any thread, and knows how often it was read.
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
  explicit TestServer(HttpHandler handler, HttpServerOptions options = {}, std::size_t workers = 1)
      : workers_(workers), server_(workers_, adapt(std::move(options)), std::move(handler)) {
    workers_.run();
    if (const auto listening = server_.listen(); !listening) throw std::runtime_error(listening.error().message());
  }

  std::uint16_t port() const { return server_.local_port(); }
  RawClient connect(int receive_buffer = 0) const { return RawClient(port(), receive_buffer); }
  HttpServer& server() { return server_; }
  Workers& workers() { return workers_; }

  // Returns when the deadlines that passed have taken effect. With one worker only: each sweep reads the
  // clock once.
  void advance(std::chrono::milliseconds by) {
    settle();
    clock_.advance(by);
    const std::uint64_t reads = clock_.reads();
    while (clock_.reads() < reads + 2 && server_.connections() > 0)
      std::this_thread::yield();
  }

  // Lets the workers take notice of everything that has been sent or asked so far.
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
