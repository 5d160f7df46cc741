#include <atomic>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "net/io/tcp_stream.hpp"
#include "net/io/tls.hpp"
#include "net/testing/http_test_server.hpp"
#include "net/testing/self_signed.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

Task<> answer(Exchange& exchange) { co_await exchange.reply({}, exchange.request().is_tls() ? "secure" : "plain"); }

TlsContext server_context(const SelfSigned& self_signed) {
  return TlsContext::server(self_signed.certificate_file(), self_signed.key_file()).value();
}

HttpServerOptions with(const SelfSigned& self_signed) {
  HttpServerOptions options;
  options.tls = server_context(self_signed);
  return options;
}

Stream connect(asio::io_context& io, std::uint16_t port, const SelfSigned& trusted) {
  TcpSocket socket(io.get_executor());
  socket.connect({asio::ip::make_address("127.0.0.1"), port});
  return tls_client_stream(tcp_stream(std::move(socket)), TlsContext::client(trusted.certificate_file()).value(),
                           "localhost");
}

// Sends `requests`, and collects what arrives until the server has sent the text `until` `times` times.
Task<> talk(Stream& stream, std::string_view requests, std::string_view until, int times, std::string& received) {
  const auto shaken = co_await stream.handshake();
  if (!shaken) {
    received = shaken.error().message();
    co_return;
  }
  co_await stream.write({&requests, 1});
  std::array<char, 4096> buffer;
  for (std::size_t from = 0; times > 0;) {
    const auto [error, size] = co_await stream.read_some(buffer);
    if (error) co_return;
    received.append(buffer.data(), size);
    while (times > 0 && (from = received.find(until, from)) != std::string::npos) {
      from += until.size();
      --times;
    }
    if (from == std::string::npos) from = received.size() - std::min(received.size(), until.size());
  }
}

std::string exchange(std::uint16_t port, const SelfSigned& trusted, std::string_view requests, std::string_view until,
                     int times = 1) {
  asio::io_context io(1);
  Stream stream = connect(io, port, trusted);
  std::string received;
  asio::co_spawn(io, talk(stream, requests, until, times, received), asio::detached);
  io.run_for(std::chrono::seconds(10));
  return received;
}

TEST(HttpTls, ServesRequestsAlsoSeveralAhead) {
  const SelfSigned self_signed;
  TestServer server(answer, with(self_signed));
  EXPECT_TRUE(exchange(server.port(), self_signed, std::string(test::kGet) + std::string(test::kGet), "secure", 2)
                  .ends_with("secure"));
}

TEST(HttpTls, CarriesLargeBodiesBothWays) {
  const SelfSigned self_signed;
  TestServer server(
      [](Exchange& other) -> Task<> {
        const std::array<std::string_view, 3> parts = {"<", other.request().body(), ">end"};
        co_await other.reply({}, parts);
      },
      with(self_signed));
  const std::string body(2'000'000, 'b');
  const std::string request = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n" + body;
  const std::string received = exchange(server.port(), self_signed, request, ">end");
  EXPECT_TRUE(received.ends_with("<" + body + ">end"));
}

TEST(HttpTls, NoticesADisconnect) {
  const SelfSigned self_signed;
  static std::atomic<int> gone;
  gone = 0;
  TestServer server(
      [](Exchange& other) -> Task<> {
        asio::steady_timer until(other.executor(), asio::steady_timer::time_point::max());
        other.on_disconnect([&] {
          ++gone;
          until.cancel();
        });
        co_await other.begin_stream({});
        co_await other.write("started");
        boost::system::error_code ignored;
        co_await until.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      },
      with(self_signed));
  exchange(server.port(), self_signed, test::kGet, "started");
  server.wait_for_connections(0);
  EXPECT_EQ(gone, 1);
}

TEST(HttpTls, UsesARenewedCertificateForNewConnections) {
  const SelfSigned first;
  const SelfSigned second;
  TestServer server(answer, with(first));
  EXPECT_TRUE(exchange(server.port(), first, test::kGet, "secure").ends_with("secure"));
  server.server().set_tls(server_context(second));
  server.settle();
  EXPECT_TRUE(exchange(server.port(), second, test::kGet, "secure").ends_with("secure"));
  EXPECT_NE(exchange(server.port(), first, test::kGet, "secure").find("not accepted"), std::string::npos);
}

// SEC-03
TEST(HttpTls, EndsAHandshakeThatDoesNotCome) {
  const SelfSigned self_signed;
  TestServer server(answer, with(self_signed));
  auto client = server.connect();
  server.wait_for_connections(1);
  server.advance(std::chrono::seconds(11));
  EXPECT_TRUE(client.at_end());
}

// SEC-03
TEST(HttpTls, SurvivesAClientThatSpeaksPlainHttp) {
  const SelfSigned self_signed;
  TestServer server(answer, with(self_signed));
  auto client = server.connect();
  client.send(test::kGet);
  client.at_end();  // whatever alert the server sends first
  server.wait_for_connections(0);
}

}  // namespace
}  // namespace proteus::net
