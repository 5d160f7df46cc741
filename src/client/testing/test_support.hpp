#pragma once

// For tests: a connection with everything it needs, driven from plain code.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/clock.hpp"
#include "client/connection/calls.hpp"
#include "client/connection/connection.hpp"
#include "client/connection/transports.hpp"
#include "net/http_client/http_client.hpp"
#include "net/process/process.hpp"
#include "net/testing/test_run.hpp"

namespace proteus::client::test {

class Client {
 public:
  explicit Client(Endpoint endpoint, Options options = {})
      : Client(std::make_unique<boost::asio::io_context>(), nullptr, std::move(endpoint), std::move(options)) {}
  Client(boost::asio::io_context& shared, Endpoint endpoint, Options options = {})
      : Client(nullptr, &shared, std::move(endpoint), std::move(options)) {}
  ~Client() {
    run(connection.close());
    http.close();
    io.poll();
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  template <class T>
  T run(Task<T> task) {
    return net::test::run(io, std::move(task));
  }
  void run(Task<> task) { net::test::run(io, std::move(task)); }
  template <class Done>
  void run_until(Done&& done) {
    net::test::run_until(io, std::forward<Done>(done));
  }

  Result<Answer> call(std::string tool, std::string arguments = "{}", RequestOptions options = {}) {
    return run(call_tool(connection, std::move(tool), std::move(arguments), std::move(options)));
  }
  // Returns the text of a tool's result, or what went wrong.
  std::string text(std::string tool, std::string arguments = "{}", RequestOptions options = {}) {
    return text_of(call(std::move(tool), std::move(arguments), std::move(options)));
  }
  static std::string text_of(const Result<Answer>& answer) {
    if (!answer) return "error: " + answer.error().message();
    return std::string(answer->value()->at("content").at(0).at("text").as_string());
  }

 private:
  Client(std::unique_ptr<boost::asio::io_context> own, boost::asio::io_context* shared, Endpoint endpoint,
         Options options)
      : own_io_(std::move(own)),
        io(shared != nullptr ? *shared : *own_io_),
        http(io, clock),
        connection(io.get_executor(), transports_to(std::move(endpoint), io, http), std::move(options)) {}

  std::unique_ptr<boost::asio::io_context> own_io_;

 public:
  boost::asio::io_context& io;
  SystemClock clock;
  net::HttpClient http;
  Connection connection;
};

// Options for a client that opens broken streams again at once.
inline Options quick() {
  Options options;
  options.timeout = proteus::test::kPatience / 2;  // tests of timeouts set their own
  options.reconnect_delay = std::chrono::milliseconds(1);
  return options;
}

// The timeout of requests that must time out: just long enough to be sent, even on a busy machine.
inline constexpr std::chrono::milliseconds kBrief{150};

// Returns the `params` of a call of `echo`.
inline Params echo_params() {
  Params params{.name = "echo", .members = {}};
  params.members.add(R"("name":"echo","arguments":{})");
  return params;
}

// A server on standard streams, in plain Python.
inline net::Command stdio_fixture(const std::vector<std::string>& arguments = {}) {
  net::Command command{{"python3", PROTEUS_SOURCE_DIR "/tests/fixtures/stdio_server.py"}, net::child_environment({})};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace proteus::client::test
