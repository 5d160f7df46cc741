#pragma once

#include <stdexcept>
#include <string_view>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "net/io/workers.hpp"
#include "redis/testing/client_fixture.hpp"
#include "redis/testing/redis_server.hpp"

// For tests.
namespace proteus::live::test {

// A client with its own thread.
class Connected {
 public:
  explicit Connected(const redis::test::RedisServer& server, std::string_view credentials = {})
      : Connected(redis::test::TestClient::options_for(server.url(credentials))) {}
  explicit Connected(redis::ClientOptions options) : client(workers_.at(0), std::move(options)) {
    workers_.run();
    client.start();
    if (!boost::asio::co_spawn(workers_.at(0), client.wait_until_connected(), boost::asio::use_future).get())
      throw std::runtime_error("no connection to Redis");
  }
  ~Connected() { boost::asio::co_spawn(workers_.at(0), client.stop(), boost::asio::use_future).get(); }
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;

  // Waits until Redis has executed what was sent.
  void flush() { boost::asio::co_spawn(workers_.at(0), client.ask({"PING"}), boost::asio::use_future).get().value(); }

 private:
  net::Workers workers_{1};

 public:
  redis::Client client;
};

}  // namespace proteus::live::test
