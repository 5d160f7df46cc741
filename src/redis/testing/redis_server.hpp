#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testing/test_run.hpp"
#include "net/testing/closed_port.hpp"
#include "redis/reply.hpp"

// For tests.
namespace proteus::redis::test {

// A separate Redis, which stores nothing on disk.
class RedisServer {
 public:
  static bool is_installed() { return ::access("/usr/bin/redis-server", X_OK) == 0; }

  explicit RedisServer(std::vector<std::string> settings = {}) : settings_(std::move(settings)) { start(); }
  ~RedisServer() { stop(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::uint16_t port() const { return port_.number(); }
  std::string url(std::string_view credentials = {}, std::string_view rest = {}) const {
    return fmt::format("redis://{}127.0.0.1:{}{}", credentials, port(), rest);
  }

  void start() {
    server_ = spawn();
    const auto end = std::chrono::steady_clock::now() + proteus::test::kPatience;
    while (!answers()) {
      if (::waitpid(server_, nullptr, WNOHANG) == server_) throw std::runtime_error("Redis does not start");
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("Redis does not answer");
      std::this_thread::yield();
    }
  }
  // Loses all data.
  void stop() {
    if (server_ == 0) return;
    ::kill(server_, SIGKILL);
    ::waitpid(server_, nullptr, 0);
    server_ = 0;
  }
  void signal(int number) const { ::kill(server_, number); }

  // Runs a command over a separate connection.
  Reply command(const std::vector<std::string_view>& words) const {
    boost::asio::io_context io;
    boost::asio::ip::tcp::socket socket(io);
    socket.connect({boost::asio::ip::address_v4::loopback(), port()});
    std::string bytes;
    write_command(bytes, words);
    boost::asio::write(socket, boost::asio::buffer(bytes));
    ReplyReader reader;
    std::string received(65'536, '\0');
    for (;;) {
      const std::size_t size = socket.read_some(boost::asio::buffer(received));
      reader.feed(std::string_view(received).substr(0, size));
      auto reply = reader.next();
      if (!reply) throw std::runtime_error(reply.error().message());
      if (*reply) return std::move(**reply);
    }
  }
  std::vector<std::string> keys(std::string_view pattern = "*") const {
    std::vector<std::string> names;
    for (const auto& key : command({"KEYS", pattern}).elements)
      names.push_back(key.text);
    return names;
  }
  // Returns a value from INFO.
  std::string info(std::string_view name) const {
    const std::string all = command({"INFO", "all"}).text;
    const auto at = all.find(fmt::format("\n{}:", name));
    if (at == std::string::npos) return {};
    const auto from = at + name.size() + 2;
    return all.substr(from, all.find('\r', from) - from);
  }

 private:
  bool answers() const {
    boost::asio::io_context io;
    boost::asio::ip::tcp::socket socket(io);
    boost::system::error_code error;
    socket.connect({boost::asio::ip::address_v4::loopback(), port()}, error);
    return !error;
  }

  pid_t spawn() const {
    std::vector<std::string> command = {"/usr/bin/setpriv",
                                        "--pdeathsig=KILL",
                                        "/usr/bin/redis-server",
                                        "--port",
                                        std::to_string(port()),
                                        "--bind",
                                        "127.0.0.1",
                                        "--save",
                                        "",
                                        "--appendonly",
                                        "no",
                                        "--enable-debug-command",
                                        "yes",
                                        "--dir",
                                        "/tmp"};
    command.insert(command.end(), settings_.begin(), settings_.end());
    std::vector<char*> arguments;
    for (auto& part : command)
      arguments.push_back(part.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, arguments.front(), &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) throw std::runtime_error("cannot start redis-server");
    return pid;
  }

  net::test::ClosedPort port_;
  const std::vector<std::string> settings_;
  pid_t server_ = 0;
};

// Returns one server for all tests of a program that do not harm it, emptied.
inline RedisServer& shared_server() {
  static RedisServer server;
  server.command({"FLUSHALL"});
  return server;
}

}  // namespace proteus::redis::test
