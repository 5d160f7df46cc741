// Answers every request with the same kilobyte of JSON, to measure the HTTP server without the protocol.
// bench/net_echo.sh compares it with nginx.

#include <csignal>
#include <cstdlib>
#include <iostream>

#include <boost/asio/signal_set.hpp>

#include "net/http_server/http_server.hpp"

namespace {

using namespace proteus;

const std::string kAnswer =
    R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":")" + std::string(936, 'x') + R"("}]}})";

Task<> answer(net::Exchange& exchange) {
  static const std::string fields = net::field_lines(std::array{net::Field{"Content-Type", "application/json"}});
  co_await exchange.reply({.prepared = fields}, kAnswer);
}

}  // namespace

int main(int argc, char** argv) {
  const auto port = argc > 1 ? static_cast<std::uint16_t>(std::atoi(argv[1])) : std::uint16_t{8081};
  const auto threads = argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : std::size_t{1};
  net::Workers workers(threads);
  workers.run();
  net::HttpServer server(workers, {.port = port}, net::with_body(answer));
  if (const auto listening = server.listen(); !listening) {
    std::cerr << listening.error().message() << '\n';
    return 1;
  }
  boost::asio::io_context io;
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([](auto, auto) {});
  io.run();
  server.stop();
}
