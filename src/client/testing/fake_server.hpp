#pragma once

// For tests: an HTTP server on the loopback interface that sends the responses of a function, right or wrong, on the
// test's own thread.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "net/http/url.hpp"
#include "net/io/tcp_stream.hpp"
#include "net/testing/test_run.hpp"

namespace proteus::client::test {

struct FakeRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  boost::json::value json;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
  std::string rpc() const {
    return json.is_object() && json.get_object().contains("method") ? json.at("method").as_string().c_str() : "";
  }
  std::string id() const {
    return json.is_object() && json.get_object().contains("id") ? boost::json::serialize(json.at("id")) : "";
  }
  const boost::json::value& params() const { return json.at("params"); }
};

// The chunks of a response that continues while the test runs.
class Feed {
 public:
  explicit Feed(const Executor& executor) : bell(executor) {}

  void event(std::string_view data, std::string_view more = {}) { push(fmt::format("{}data: {}\n\n", more, data)); }
  void push(std::string bytes) {
    chunks.push_back(std::move(bytes));
    bell.ring();
  }
  // Ends the response in order; `cut` ends it in the middle.
  void end() {
    ended = true;
    bell.ring();
  }
  void cut() {
    is_cut = true;
    end();
  }

  std::vector<std::string> chunks;
  bool ended = false;
  bool is_cut = false;
  bool abandoned = false;  // closed by the client
  Bell bell;
};

struct FakeResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::string more_headers = {};  // whole lines
  std::string raw = {};           // sent instead of all the above; then the connection is closed
  std::shared_ptr<Feed> feed = {};
  bool hold = false;  // sends nothing
};

class FakeServer {
 public:
  using Handler = std::function<FakeResponse(const FakeRequest&)>;

  FakeServer(boost::asio::io_context& io, Handler handler)
      : io_(io),
        handler_(std::move(handler)),
        acceptor_(io, {boost::asio::ip::make_address("127.0.0.1"), 0}),
        tasks_(io.get_executor()) {
    tasks_.spawn("acceptor", accept());
  }
  ~FakeServer() { net::test::run(io_, stop()); }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  net::Url url() const {
    return net::Url::parse(fmt::format("http://127.0.0.1:{}/mcp", acceptor_.local_endpoint().port())).value();
  }
  std::shared_ptr<Feed> feed() { return std::make_shared<Feed>(io_.get_executor()); }

  std::size_t count(std::string_view rpc) const {
    return static_cast<std::size_t>(std::ranges::count(requests, rpc, &FakeRequest::rpc));
  }
  const FakeRequest& last(std::string_view rpc) const {
    const auto found =
        std::find_if(requests.rbegin(), requests.rend(), [&](const auto& request) { return request.rpc() == rpc; });
    if (found == requests.rend()) throw std::runtime_error("no such request was received");
    return *found;
  }
  std::size_t verbs(std::string_view method) const {
    return static_cast<std::size_t>(std::ranges::count(requests, method, &FakeRequest::method));
  }

  // Returns what the client answered to requests of the server.
  std::vector<std::string> answers() const {
    std::vector<std::string> found;
    for (const auto& request : requests) {
      if (request.method == "POST" && request.rpc().empty()) found.push_back(request.body);
    }
    return found;
  }

  std::vector<FakeRequest> requests;
  std::size_t abandoned = 0;  // held requests that the client gave up

 private:
  // Runs on the context's thread: a task that is cancelled from elsewhere may end before the cancellation arrives.
  Task<> stop() {
    tasks_.cancel();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    co_await tasks_.join();
  }

  Task<> accept() {
    for (;;) {
      net::TcpSocket socket(io_);
      co_await acceptor_.async_accept(socket, boost::asio::use_awaitable);
      tasks_.spawn("connection", serve(std::make_shared<net::Stream>(net::tcp_stream(std::move(socket)))));
    }
  }

  Task<> serve(std::shared_ptr<net::Stream> stream) {
    std::string received;
    for (;;) {
      FakeRequest request;
      if (!co_await receive(*stream, received, request)) co_return;
      requests.push_back(request);
      const FakeResponse response = handler_(request);
      if (!co_await respond(stream, response)) co_return;
    }
  }

  static Task<bool> receive(net::Stream& stream, std::string& received, FakeRequest& request) {
    std::array<char, 8192> bytes;
    for (;;) {
      if (const auto head = received.find("\r\n\r\n"); head != std::string::npos) {
        const std::size_t size = parse_head(received.substr(0, head), request);
        if (received.size() >= head + 4 + size) {
          request.body = received.substr(head + 4, size);
          received.erase(0, head + 4 + size);
          boost::system::error_code ignored;
          if (!request.body.empty()) request.json = boost::json::parse(request.body, ignored);
          co_return true;
        }
      }
      const auto [error, size] = co_await stream.read_some(bytes);
      if (error) co_return false;
      received.append(bytes.data(), size);
    }
  }

  static std::size_t parse_head(const std::string& head, FakeRequest& request) {
    request.headers.clear();
    std::size_t at = head.find("\r\n");
    const std::string line = head.substr(0, at);
    request.method = line.substr(0, line.find(' '));
    request.target = line.substr(line.find(' ') + 1, line.rfind(' ') - line.find(' ') - 1);
    while (at != std::string::npos) {
      const std::size_t next = head.find("\r\n", at + 2);
      const std::string field = head.substr(at + 2, next == std::string::npos ? next : next - at - 2);
      at = next;
      std::string name = field.substr(0, field.find(':'));
      std::ranges::transform(name, name.begin(),
                             [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      std::string value = field.substr(std::min(field.find(':') + 1, field.size()));
      value.erase(0, value.find_first_not_of(' '));
      const auto [before, is_first] = request.headers.emplace(name, value);
      if (!is_first) before->second += ", " + value;
    }
    const auto length = request.headers.find("content-length");
    return length == request.headers.end() ? 0 : std::stoul(length->second);
  }

  Task<bool> write(net::Stream& stream, std::string_view text) {
    co_return !(co_await stream.write(std::span(&text, 1))).error;
  }

  Task<bool> respond(std::shared_ptr<net::Stream> stream, const FakeResponse& response) {
    if (response.hold) {
      co_await until_closed(stream, nullptr);
      ++abandoned;
      co_return false;
    }
    if (!response.raw.empty()) {
      co_await write(*stream, response.raw);
      co_return false;
    }
    std::string head = fmt::format("HTTP/1.1 {} Whatever\r\n{}", response.status, response.more_headers);
    if (!response.feed) {
      if (!response.type.empty() && !response.body.empty()) head += fmt::format("Content-Type: {}\r\n", response.type);
      co_return co_await write(
          *stream, fmt::format("{}Content-Length: {}\r\n\r\n{}", head, response.body.size(), response.body));
    }
    head += fmt::format("Content-Type: {}\r\nTransfer-Encoding: chunked\r\n\r\n", response.type);
    if (!co_await write(*stream, head)) co_return false;
    co_return co_await pump(stream, response.feed);
  }

  Task<bool> pump(std::shared_ptr<net::Stream> stream, std::shared_ptr<Feed> feed) {
    // Reads in a separate task; otherwise nothing would notice that the client is gone.
    tasks_.spawn("watching", until_closed(stream, feed));
    std::size_t sent = 0;
    for (;;) {
      while (sent < feed->chunks.size()) {
        const std::string chunk = feed->chunks[sent++];
        if (!co_await write(*stream, fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk))) co_return false;
      }
      if (feed->abandoned) co_return false;
      if (feed->ended) {
        if (!feed->is_cut) co_await write(*stream, "0\r\n\r\n");
        stream->close();
        co_return false;
      }
      co_await feed->bell.wait();
    }
  }

  static Task<> until_closed(std::shared_ptr<net::Stream> stream, std::shared_ptr<Feed> feed) {
    std::array<char, 100> ignored;
    while (!(co_await stream->read_some(ignored)).error) {
    }
    if (!feed || feed->ended) co_return;
    feed->abandoned = true;
    feed->bell.ring();
  }

  boost::asio::io_context& io_;
  Handler handler_;
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type> acceptor_;
  TaskGroup tasks_;
};

inline FakeResponse result(const FakeRequest& request, std::string_view result) {
  return {.body = fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", request.id(), result)};
}
inline FakeResponse rpc_error(const FakeRequest& request, int code, std::string_view message, int status = 200,
                              std::string_view data = "null") {
  return {.status = status,
          .body = fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":"{}","data":{}}}}})",
                              request.id(), code, message, data)};
}
inline std::string text_result(std::string_view text) {
  return fmt::format(R"({{"content":[{{"type":"text","text":"{}"}}]}})", text);
}

// A server of one era that does everything right, until a test replaces a method.
class FakeMcp {
 public:
  using Method = std::function<FakeResponse(const FakeRequest&)>;

  static FakeMcp modern() {
    FakeMcp server;
    server.is_modern = true;
    server.on["server/discover"] = [](const FakeRequest& request) {
      return result(
          request,
          R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"})");
    };
    return server.with_tools();
  }
  static FakeMcp legacy() {
    FakeMcp server;
    server.on["initialize"] = [](const FakeRequest& request) {
      auto response = result(
          request,
          R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"serverInfo":{"name":"fake","version":"1"}})");
      response.more_headers = "Mcp-Session-Id: session-1\r\n";
      return response;
    };
    return server.with_tools();
  }

  FakeResponse operator()(const FakeRequest& request) const {
    if (request.method == "GET") return get ? get(request) : FakeResponse{.status = 405};
    if (request.method == "DELETE") return {.status = 200};
    const auto found = on.find(request.rpc());
    if (found != on.end()) return found->second(request);
    if (request.id().empty() || request.rpc().empty()) return {.status = 202};
    if (!is_modern && request.header("mcp-session-id").empty())
      return {
          .status = 400,
          .body =
              R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}})"};
    return rpc_error(request, -32601, "Method not found", is_modern ? 404 : 200);
  }

  std::map<std::string, Method> on;
  Method get;
  bool is_modern = false;

 private:
  FakeMcp& with_tools() {
    on["tools/list"] = [](const FakeRequest& request) {
      return result(request, R"({"tools":[{"name":"echo","inputSchema":{"type":"object"}}]})");
    };
    on["tools/call"] = [](const FakeRequest& request) { return result(request, text_result("done")); };
    return *this;
  }
};

}  // namespace proteus::client::test
