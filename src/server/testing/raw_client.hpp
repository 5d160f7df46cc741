#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "net/testing/raw_client.hpp"

namespace proteus::server {

// A blocking MCP client for tests, with events, JSON and the usual headers. Waits at most ten seconds.
class RawClient {
 public:
  struct Answer {
    int status = 0;
    std::map<std::string, std::string, std::less<>> fields;  // names in lower case
    std::string body;                                        // empty for a stream; see `read_event`

    boost::json::value json() const { return boost::json::parse(body); }
    std::string field(std::string_view name) const {
      const auto found = fields.find(name);
      return found == fields.end() ? std::string() : found->second;
    }
  };

  explicit RawClient(std::uint16_t port, std::string path = "/mcp")
      : port_(port), path_(std::move(path)), wire_(port) {}

  void close() { wire_.close(); }
  void send(std::string_view bytes) { wire_.send(bytes); }

  // `fields` are whole header lines. Host, Content-Type, Accept and Content-Length are added unless given.
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
    const net::Answer received = wire_.receive(true);
    answer.status = received.status;
    const std::string& head = received.head;
    std::size_t at = head.find("\r\n") + 2;
    while (at < head.size()) {
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
      answer.body = wire_.take(static_cast<std::size_t>(std::atoi(answer.field("content-length").c_str())));
      if (answer.field("content-type") == "text/event-stream") events_ = answer.body;
    }
    return answer;
  }

  Answer request(std::string_view method, std::string_view fields, std::string_view body = {}) {
    send_request(method, fields, body);
    return read_answer();
  }

  struct Event {
    std::string name;
    std::string id;
    std::string data;
    boost::json::value json() const { return boost::json::parse(data); }
  };
  // Returns the next event of a stream, skipping comments; nothing at the end of the stream or of the connection.
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
        } else if (line.starts_with("event: ")) {
          event.name = line.substr(7);
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
  // Passes the events that are complete within the next `bytes` bytes of a stream to `each`; reads no further.
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

  // Waits until the server closes its side. Returns false if it does not.
  bool closed() {
    try {
      return wire_.at_end();
    } catch (const std::runtime_error&) {
      return false;
    }
  }

 private:
  // Returns nothing at the end of the stream, if the stream is cut off or if nothing arrives.
  std::optional<std::string> read_chunk() {
    try {
      return wire_.receive_chunk();
    } catch (const std::runtime_error&) {
      return std::nullopt;
    }
  }

  std::uint16_t port_;
  std::string path_;
  net::RawClient wire_;
  std::string events_;
  std::string retry_;
  bool chunked_ = false;
};

}  // namespace proteus::server
