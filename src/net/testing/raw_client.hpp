#pragma once

// For tests: a client that writes exactly the bytes it is given.

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "net/http/fields.hpp"

namespace proteus::net {

struct Answer {
  int status = 0;
  std::string head;  // with the status line
  std::string body;  // decoded
};

// Blocks for at most a minute; only a test that would hang waits that long.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{60, 0};
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
      if (sent < 0) return;  // the server closed; its answer says more
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

  // Receives the next chunk of a chunked body; returns nothing at its end.
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

  // Returns whether the server closes the connection without sending anything before that.
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

  // Receives exactly `size` bytes.
  std::string take(std::size_t size) {
    while (received_.size() < size) {
      if (!more()) throw std::runtime_error("cut off within a body");
    }
    std::string taken = received_.substr(0, size);
    received_.erase(0, size);
    return taken;
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

  int socket_ = -1;
  std::string received_;
};

}  // namespace proteus::net
