#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/unique_fd.hpp"
#include "net/http_server/http_server.hpp"
#include "net/process/spawn.hpp"

namespace proteus::net {
namespace {

Task<> greet(Exchange& exchange) { co_await exchange.reply({}, std::string_view("hello")); }

// Takes a port for a moment, as whoever chooses one does. It can be listened on even while the socket lingers in a
// child.
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

// Between its fork and its program a child holds all sockets there are.
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

}  // namespace
}  // namespace proteus::net
