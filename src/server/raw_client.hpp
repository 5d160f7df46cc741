#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace proteus::server {

// A blocking HTTP client for tests that sends exactly the bytes it is given and waits at most ten seconds for others.
class RawClient {
 public:
  struct Answer {
    int status = 0;
    std::map<std::string, std::string, std::less<>> fields;  // names in lower case
    std::string body;                                        // empty for a stream, whose events are read one by one

    boost::json::value json() const { return boost::json::parse(body); }
    std::string field(std::string_view name) const {
      const auto found = fields.find(name);
      return found == fields.end() ? std::string() : found->second;
    }
  };

  explicit RawClient(std::uint16_t port, std::string path = "/mcp")
      : port_(port), path_(std::move(path)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("the server closed the connection");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // `fields` are whole lines. Host, Content-Type, Accept and Content-Length come by themselves unless given.
  void send_request(std::string_view method, std::string_view fields, std::string_view body = {}) {
    std::string head = fmt::format("{} {} HTTP/1.1\r\n{}", method, path_, fields);
    const auto add = [&](std::string_view name, const std::string& value) {
      if (fields.find(name) == std::string_view::npos) head += fmt::format("{} {}\r\n", name, value);
    };
    add("Host:", fmt::format("127.0.0.1:{}", port_));
    add("Accept:", "application/json, text/event-stream");
    if (!body.empty()) add("Content-Type:", "application/json");
    add("Content-Length:", std::to_string(body.size()));
    send(head + "\r\n" + std::string(body));
  }

  Answer read_answer() {
    Answer answer;
    std::string head = read_until("\r\n\r\n");
    answer.status = std::atoi(head.substr(9, 3).c_str());
    std::size_t at = head.find("\r\n") + 2;
    while (at < head.size() - 2) {
      const auto end = head.find("\r\n", at);
      const auto colon = head.find(':', at);
      std::string name = head.substr(at, colon - at);
      for (auto& c : name)
        c = static_cast<char>(std::tolower(c));
      answer.fields[name] = head.substr(colon + 2, end - colon - 2);
      at = end + 2;
    }
    chunked_ = answer.field("transfer-encoding") == "chunked";
    events_.clear();
    if (!chunked_) {
      answer.body = read_bytes(static_cast<std::size_t>(std::atoi(answer.field("content-length").c_str())));
      if (answer.field("content-type") == "text/event-stream") events_ = answer.body;
    }
    return answer;
  }

  Answer request(std::string_view method, std::string_view fields, std::string_view body = {}) {
    send_request(method, fields, body);
    return read_answer();
  }

  struct Event {
    std::string id;
    std::string data;
    boost::json::value json() const { return boost::json::parse(data); }
  };
  // The next event of a stream, comments skipped; nothing at its end, or where the connection ends.
  std::optional<Event> read_event() {
    for (;;) {
      const auto end = events_.find("\n\n");
      if (end == std::string::npos) {
        auto chunk = chunked_ ? read_chunk() : std::nullopt;
        if (!chunk) return std::nullopt;
        events_ += *chunk;
        continue;
      }
      const std::string block = events_.substr(0, end);
      events_.erase(0, end + 2);
      Event event;
      bool any = false;
      for (std::size_t at = 0; at < block.size();) {
        const auto line_end = std::min(block.find('\n', at), block.size());
        const std::string line = block.substr(at, line_end - at);
        if (line.starts_with("data:")) {
          event.data += line.substr(line.size() > 5 && line[5] == ' ' ? 6 : 5);
          any = true;
        } else if (line.starts_with("id: ")) {
          event.id = line.substr(4);
        } else if (line.starts_with("retry: ")) {
          retry_ = line.substr(7);
        }
        at = line_end + 1;
      }
      if (any) return event;
    }
  }
  // Events that are whole within the next bytes of a stream; reads no further.
  template <class Each>
  void read_stream_up_to(std::size_t bytes, Each&& each) {
    while (events_.size() < bytes) {
      auto chunk = chunked_ ? read_chunk() : std::nullopt;
      if (!chunk) break;
      events_ += *chunk;
    }
    events_.resize(std::min(events_.size(), bytes));
    chunked_ = false;
    while (const auto event = read_event())
      each(*event);
  }
  const std::string& retry() const { return retry_; }

  // Whether the server has closed its side, waiting for it.
  bool closed() {
    char byte = 0;
    return ::recv(socket_, &byte, 1, 0) == 0;
  }

 private:
  bool fill() {
    char buffer[16384];
    const auto received = ::recv(socket_, buffer, sizeof buffer, 0);
    if (received <= 0) return false;
    buffered_.append(buffer, static_cast<std::size_t>(received));
    return true;
  }
  std::string read_until(std::string_view mark) {
    while (buffered_.find(mark) == std::string::npos) {
      if (!fill()) throw std::runtime_error("the server closed the connection or said nothing; so far: " + buffered_);
    }
    const auto end = buffered_.find(mark) + mark.size();
    std::string taken = buffered_.substr(0, end);
    buffered_.erase(0, end);
    return taken;
  }
  std::string read_bytes(std::size_t count) {
    while (buffered_.size() < count) {
      if (!fill()) throw std::runtime_error("the body ends too early");
    }
    std::string taken = buffered_.substr(0, count);
    buffered_.erase(0, count);
    return taken;
  }
  std::optional<std::string> read_chunk() {
    while (buffered_.find("\r\n") == std::string::npos) {
      if (!fill()) return std::nullopt;
    }
    const auto size = std::strtoul(read_until("\r\n").c_str(), nullptr, 16);
    std::string chunk = read_bytes(size);
    read_bytes(2);
    if (size == 0) return std::nullopt;
    return chunk;
  }

  std::uint16_t port_;
  std::string path_;
  int socket_;
  std::string buffered_;
  std::string events_;
  std::string retry_;
  bool chunked_ = false;
};

}  // namespace proteus::server
