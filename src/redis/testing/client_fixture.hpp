#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "redis/client.hpp"

// For tests.
namespace proteus::redis::test {

// A client that runs on the thread of the test.
class TestClient {
 public:
  TestClient(boost::asio::io_context& io, const std::string& url, ClientOptions options)
      : io_(io), client_(io, std::move(options)) {
    EXPECT_EQ(RedisUrl::parse(url)->server, client_.url().server);
    client_.start();
  }
  TestClient(boost::asio::io_context& io, const std::string& url) : TestClient(io, url, options_for(url)) {}
  ~TestClient() { proteus::test::run(io_, client_.stop()); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  // Returns options with short pauses, because tests wait for them.
  static ClientOptions options_for(const std::string& url) {
    ClientOptions options{.url = RedisUrl::parse(url).value()};
    options.first_pause = std::chrono::milliseconds(5);
    options.longest_pause = std::chrono::milliseconds(20);
    return options;
  }

  Client& operator*() { return client_; }
  Client* operator->() { return &client_; }
  Result<> connect() { return proteus::test::run(io_, client_.wait_until_connected()); }
  Result<Reply> ask(std::vector<std::string> words) { return proteus::test::run(io_, client_.ask(std::move(words))); }

 private:
  boost::asio::io_context& io_;
  Client client_;
};

}  // namespace proteus::redis::test
