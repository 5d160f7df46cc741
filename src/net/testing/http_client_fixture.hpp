#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_client/http_client.hpp"
#include "net/testing/scripted_server.hpp"
#include "net/testing/test_run.hpp"

// For tests of the HTTP client: one client, a manual clock, and a check that nothing is left open at the end.
namespace proteus::net::test {

// The outcome of a request, in a form that is easy to compare.
struct Answer {
  unsigned status = 0;
  std::string body;
  ErrorKind kind = ErrorKind::internal;  // meaningful only if the request failed
  std::string fault;
};

inline Answer failed(const Error& error) { return {0, "", error.kind(), error.message()}; }

struct Request {
  Url url;
  std::string method = "GET";
  std::vector<Field> fields = {};
  std::vector<std::string_view> body = {};
  RequestDeadlines deadlines = {};
  std::size_t limit = 1'000'000;
  RequestAbort* abort = nullptr;

  ClientRequest view() const {
    return {.url = url, .method = method, .fields = fields, .body = body, .deadlines = deadlines, .abort = abort};
  }
};

inline Task<Answer> fetch(HttpClient& client, Request request) {
  auto response = co_await client.send(request.view());
  if (!response) co_return failed(response.error());
  auto body = co_await response->read_all(request.limit);
  if (!body) co_return failed(body.error());
  co_return Answer{response->status(), std::string(*body), {}, ""};
}

inline constexpr const char* kHello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

class HttpClientTest : public testing::Test {
 protected:
  HttpClientTest() : descriptors_(open_descriptors()), io_(std::make_unique<boost::asio::io_context>(1)) { use({}); }

  void TearDown() override {
    client_ = nullptr;
    server_ = nullptr;
    io_ = nullptr;
    // An abandoned name lookup may keep a descriptor open until it has ended.
    while (open_descriptors() > descriptors_)
      std::this_thread::yield();
    EXPECT_EQ(open_descriptors(), descriptors_);
  }

  void use(HttpClientOptions options) { client_ = std::make_unique<HttpClient>(*io_, clock_, std::move(options)); }
  void serve(std::vector<Script> scripts, const char* address = "127.0.0.1", std::optional<TlsContext> tls = {}) {
    server_ = nullptr;
    server_ = std::make_unique<ScriptedServer>(*io_, std::move(scripts), address, std::move(tls));
  }

  Answer get(const Url& url) { return fetch({.url = url}); }
  Answer get() { return get(server_->url()); }
  Answer fetch(Request request) { return run(*io_, test::fetch(*client_, std::move(request))); }
  // Returns what the client makes of an answer with exactly these bytes.
  Answer answer_to(std::string bytes) {
    serve({{receive(), send(std::move(bytes))}});
    return get();
  }

  void pass(std::chrono::milliseconds time) {
    clock_.advance(time);
    client_->sweep();
  }

  std::size_t descriptors_;
  ManualClock clock_;
  std::unique_ptr<boost::asio::io_context> io_;
  std::unique_ptr<ScriptedServer> server_;
  std::unique_ptr<HttpClient> client_;
};

}  // namespace proteus::net::test
