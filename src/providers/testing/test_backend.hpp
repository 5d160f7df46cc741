#pragma once

// For tests: the back end of an application, which sends the replies that were set and records requests.

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "net/testing/http_test_server.hpp"

namespace proteus::providers::test {

class TestBackend {
 public:
  struct Asked {
    std::string method;
    std::string path;
    std::string authorization;
    std::string body;

    boost::json::value json() const { return boost::json::parse(body); }
  };
  struct Reply {
    unsigned status = 200;
    std::string body = R"({"ok":true})";
    std::string content_type = "application/json";
    std::string fields = {};  // whole lines
  };

  TestBackend() : server_([this](net::Exchange& exchange) { return handle(exchange); }) {}

  std::string url(std::string_view path = "/fetch") const {
    return fmt::format("http://127.0.0.1:{}{}", server_.port(), path);
  }
  std::uint16_t port() const { return server_.port(); }
  // Sets the reply for a path. For other paths it is {"ok":true}.
  void set(const std::string& path, Reply reply) {
    const std::scoped_lock lock(mutex_);
    replies_[path] = std::move(reply);
  }
  // Makes requests for a path wait until `release`.
  void hold(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    held_ = path;
  }
  void release() {
    const std::scoped_lock lock(mutex_);
    held_.clear();
  }
  // Returns how many requests the client gave up while they were held.
  int abandoned() const { return abandoned_; }
  std::vector<Asked> asked() const {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }

 private:
  bool is_held(std::string_view path) const {
    const std::scoped_lock lock(mutex_);
    return held_ == path;
  }

  Task<> handle(net::Exchange& exchange) {
    const net::Request& request = exchange.request();
    const std::string path(request.path());
    Reply reply;
    {
      const std::scoped_lock lock(mutex_);
      asked_.push_back({std::string(request.method()), path,
                        std::string(request.fields().find("Authorization").value_or("")), std::string(request.body())});
      if (const auto found = replies_.find(path); found != replies_.end()) reply = found->second;
    }
    bool gone = false;
    if (is_held(path))
      exchange.on_disconnect([this, &gone] {
        gone = true;
        ++abandoned_;
      });
    while (is_held(path) && !gone)
      co_await boost::asio::post(exchange.executor(), boost::asio::use_awaitable);
    co_await exchange.reply({.status = reply.status, .content_type = reply.content_type, .prepared = reply.fields},
                            reply.body);
  }

  mutable std::mutex mutex_;
  std::map<std::string, Reply> replies_;
  std::vector<Asked> asked_;
  std::string held_;
  std::atomic<int> abandoned_ = 0;
  net::TestServer server_;
};

// Writes a tool of the usual form; `members` are further members, as JSON text that begins with a comma.
inline std::string tool_text(std::string_view name, std::string_view url, std::string_view members = {}) {
  return fmt::format(
      R"({{"name":"{}","description":"Run a SQL query","url":"{}","action":"open_table","inputSchema":{{)"
      R"("type":"object","properties":{{"query":{{"type":"string"}},"limit":{{"type":"integer"}}}},)"
      R"("required":["query"]}}{}}})",
      name, url, members);
}

}  // namespace proteus::providers::test
