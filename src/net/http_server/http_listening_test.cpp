#include <atomic>
#include <new>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/log/log.hpp"
#include "base/unique_fd.hpp"
#include "net/process/spawn.hpp"
#include "net/testing/http_test_server.hpp"

namespace proteus::net {
namespace {

Task<> greet(Exchange& exchange) { co_await exchange.reply({}, std::string_view("hello")); }

// Returns a port that was just free. The server can listen on it even while a child still holds the socket.
std::uint16_t free_port() {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(socket.get(), plain, size), 0);
  EXPECT_EQ(::getsockname(socket.get(), plain, &size), 0);
  return ntohs(address.sin_port);
}

// Between fork and exec, a child holds all sockets of the process.
TEST(HttpServer, ListensWhileProgramsAreStarted) {
  std::atomic<bool> enough = false;
  std::jthread starting([&] {
    while (!enough) {
      auto child = spawn_child({.argv = {"/bin/true"}, .environment = {}});
      ASSERT_TRUE(child) << child.error().message();
      ::waitpid(child->pid, nullptr, 0);
    }
  });
  Workers workers(2);
  workers.run();
  for (int round = 0; round < 500 && !testing::Test::HasFailure(); ++round) {
    HttpServerOptions options;
    options.port = free_port();
    HttpServer server(workers, options, greet);
    const auto listening = server.listen();
    EXPECT_TRUE(listening) << "round " << round << ": " << listening.error().message();
  }
  enough = true;
}

// One connection that cannot be set up must not keep a worker from accepting others.
TEST(HttpServer, AcceptsFurtherConnectionsAfterOneFailed) {
  static std::atomic<bool> fails;
  fails = true;
  SystemClock clock;
  RefusalLog refusals(clock);
  TestServer server([](Exchange& exchange) { return greet(exchange); },
                    {.limits = {.connections = 1}, .refusals = &refusals});
  std::optional<RawClient> first = server.connect();
  server.wait_for_connections(1);
  // The log has no memory left to report a connection beyond the limit.
  log::redirect([](std::string_view) {
    if (fails.exchange(false)) throw std::bad_alloc();
  });
  auto failed = server.connect();
  EXPECT_TRUE(failed.at_end());
  log::redirect(nullptr);
  EXPECT_FALSE(fails);
  first.reset();
  server.wait_for_connections(0);
  auto next = server.connect();
  next.send(test::kGet);
  EXPECT_EQ(next.receive().body, "hello");
}

}  // namespace
}  // namespace proteus::net
