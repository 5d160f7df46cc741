// TLS and proxies.
#include <map>

#include "net/http_client/client_tls.hpp"
#include "net/testing/http_client_fixture.hpp"
#include "net/testing/self_signed.hpp"

namespace proteus::net::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class HttpClientTlsTest : public HttpClientTest {
 protected:
  static const SelfSigned& identity() {
    static const SelfSigned made;
    return made;
  }
  void trust(ClientTls settings, ProxySettings proxies = {}) {
    use({.proxies = std::move(proxies), .tls = client_tls(settings).value()});
  }
  void trust_server() { trust({.authorities = identity().certificate_file()}); }
  void serve_tls(std::vector<Script> scripts) {
    serve(std::move(scripts), "127.0.0.1",
          TlsContext::server(identity().certificate_file(), identity().key_file()).value());
  }
  ProxySettings proxy_at_server(std::string_view credentials = "") {
    const std::string url = fmt::format("http://{}127.0.0.1:{}", credentials, server_->port());
    return ProxySettings::from([&](const char* name) {
             return std::string_view(name) == "all_proxy" ? std::optional(url) : std::nullopt;
           })
        .value();
  }
  Url https(std::string_view host) { return server_->url("/", fmt::format("https://{}", host)); }
};

TEST_F(HttpClientTlsTest, TrustsTheAuthoritiesItWasGiven) {
  serve_tls({{start_tls(), receive(), send(kHello), receive(), send(kHello), receive(), send(kHello)}});
  trust_server();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(get(https("localhost")).body, "hello");
  EXPECT_EQ(server_->connections, 1U);
}

TEST_F(HttpClientTlsTest, ChecksAddressesToo) {
  serve_tls({{start_tls(), receive(), send(kHello)}});
  trust_server();
  EXPECT_EQ(get(https("127.0.0.1")).body, "hello");
}

TEST_F(HttpClientTlsTest, RefusesAnUnknownAuthority) {
  serve_tls({{start_tls(), receive()}});
  use({});  // the system's authorities
  const Answer answer = get(https("localhost"));
  EXPECT_EQ(answer.kind, ErrorKind::unreachable);
  EXPECT_THAT(answer.fault, HasSubstr("certificate"));
  EXPECT_TRUE(server_->requests.empty());
}

TEST_F(HttpClientTlsTest, RefusesACertificateForAnotherHost) {
  serve_tls({{start_tls(), receive()}});
  trust_server();
  const Answer answer = get(https("other.localhost"));
  EXPECT_EQ(answer.kind, ErrorKind::unreachable);
  EXPECT_THAT(answer.fault, HasSubstr("hostname mismatch"));
  EXPECT_TRUE(server_->requests.empty());
}

TEST_F(HttpClientTlsTest, ChecksNothingOnlyWhenToldSo) {
  serve_tls({{start_tls(), receive(), send(kHello)}});
  trust({.check = PeerCheck::none});
  EXPECT_EQ(get(https("other.localhost")).body, "hello");
}

TEST_F(HttpClientTlsTest, SaysThatTheServerDoesNotSpeakTls) {
  serve_tls({{send("HTTP/1.1 400 Bad Request\r\n\r\n")}});
  trust_server();
  EXPECT_EQ(get(https("localhost")).kind, ErrorKind::unreachable);
  serve_tls({{}});
  EXPECT_EQ(get(https("localhost")).kind, ErrorKind::unreachable);
}

TEST_F(HttpClientTlsTest, GivesUpAHandshakeThatTakesTooLong) {
  serve_tls({{hold()}});
  trust_server();
  Started connecting(
      *io_, test::fetch(*client_, {.url = https("localhost"), .deadlines = {.connect = std::chrono::seconds(2)}}));
  run_until(*io_, [&] { return server_->connections == 1; });
  settle(*io_);
  pass(std::chrono::seconds(2));
  const Answer answer = connecting.finish();
  EXPECT_EQ(answer.kind, ErrorKind::unreachable);
  EXPECT_THAT(answer.fault, HasSubstr("timed out"));
  run_until(*io_, [&] { return server_->closed_by_client == 1; });
}

TEST_F(HttpClientTlsTest, LeavesAHandshakeWhenItsCallerDoes) {
  serve_tls({{hold()}});
  trust_server();
  Started connecting(*io_, test::fetch(*client_, {.url = https("localhost")}));
  run_until(*io_, [&] { return server_->connections == 1; });
  settle(*io_);
  connecting.cancel();
  EXPECT_EQ(connecting.finish().kind, ErrorKind::cancelled);
}

TEST_F(HttpClientTlsTest, LeavesAHandshakeWhenTheCallIsAborted) {
  serve_tls({{hold()}});
  trust_server();
  RequestAbort abort;
  Started connecting(*io_, test::fetch(*client_, {.url = https("localhost"), .abort = &abort}));
  run_until(*io_, [&] { return server_->connections == 1; });
  settle(*io_);
  abort();
  run_until(*io_, [&] { return server_->closed_by_client == 1; });
  EXPECT_EQ(connecting.finish().kind, ErrorKind::cancelled);
}

TEST_F(HttpClientTlsTest, DoesNotTakeACutForAnEnd) {
  // Without a close_notify, the response may have been cut off.
  serve_tls({{start_tls(), receive(), send("HTTP/1.1 200 OK\r\n\r\nthis much")}});
  trust_server();
  EXPECT_EQ(get(https("localhost")).kind, ErrorKind::interrupted);
}

TEST_F(HttpClientTlsTest, NoticesThatAnIdleConnectionWasClosed) {
  serve_tls({{start_tls(), receive(), send(kHello)}, {start_tls(), receive(), send(kHello)}});
  trust_server();
  EXPECT_EQ(get(https("localhost")).body, "hello");
  settle(*io_);
  EXPECT_EQ(get(https("localhost")).body, "hello");
  EXPECT_EQ(server_->connections, 2U);
}

TEST_F(HttpClientTlsTest, MovesLargeBodiesBothWays) {
  const std::string large(300'000, 'x');
  serve_tls({{start_tls(), receive(),
              send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", large.size(), large))}});
  trust_server();
  EXPECT_EQ(fetch({.url = https("localhost"), .method = "POST", .body = {large, "end"}}).body, large);
  EXPECT_THAT(server_->requests.at(0), testing::EndsWith("xend"));
}

TEST_F(HttpClientTlsTest, AsksAProxyForHttpHostsByTheirUrl) {
  serve({{receive(), send(kHello), receive(), send(kHello)}});
  use({.proxies = proxy_at_server("user:pass@")});
  EXPECT_EQ(get(Url::parse("http://upstream.test/a?b").value()).body, "hello");
  EXPECT_EQ(get(Url::parse("http://another.test:8080/").value()).body, "hello");
  EXPECT_EQ(server_->connections, 1U) << "one connection serves all hosts";
  EXPECT_THAT(server_->requests,
              ElementsAre(StartsWith("GET http://upstream.test/a?b HTTP/1.1\r\nHost: upstream.test\r\n"),
                          StartsWith("GET http://another.test:8080/ HTTP/1.1\r\nHost: another.test:8080\r\n")));
  EXPECT_THAT(server_->requests[0], HasSubstr("Proxy-Authorization: Basic dXNlcjpwYXNz\r\n"));
}

TEST_F(HttpClientTlsTest, ReachesHttpsHostsThroughATunnel) {
  serve_tls({{receive(), send("HTTP/1.1 200 Connection established\r\n\r\n"), start_tls(), receive(), send(kHello),
              receive(), send(kHello)}});
  trust({.check = PeerCheck::none}, proxy_at_server("user:pass@"));
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(get(Url::parse("https://upstream.test/a").value()).body, "hello");
  EXPECT_EQ(server_->connections, 1U);
  EXPECT_THAT(server_->requests,
              ElementsAre("CONNECT upstream.test:443 HTTP/1.1\r\nHost: upstream.test:443\r\nProxy-Authorization: Basic "
                          "dXNlcjpwYXNz\r\n\r\n",
                          StartsWith("GET /a HTTP/1.1\r\nHost: upstream.test\r\n"), StartsWith("GET /a ")));
  EXPECT_THAT(server_->requests[1], testing::Not(HasSubstr("Proxy-Authorization")));
}

TEST_F(HttpClientTlsTest, ChecksTheHostBehindATunnel) {
  serve_tls({{receive(), send("HTTP/1.1 200 OK\r\n\r\n"), start_tls(), receive()}});
  trust({.authorities = identity().certificate_file()}, proxy_at_server());
  const Answer answer = get(Url::parse("https://upstream.test/").value());
  EXPECT_EQ(answer.kind, ErrorKind::unreachable);
  EXPECT_THAT(answer.fault, HasSubstr("hostname mismatch"));
}

TEST_F(HttpClientTlsTest, SaysThatTheProxyRefused) {
  const Url url = Url::parse("https://upstream.test/").value();
  for (const auto& [answered, expected] : std::map<std::string, std::string>{
           {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 4\r\n\r\nno!!",
            "refused to connect to upstream.test:443: status 407"},
           {"HTTP/1.1 200 OK\r\n\r\nforged", "refused to connect to upstream.test:443: status 200"},
           {"SSH-2.0", "the answer is not HTTP/1.1"},
           {"HTTP/1.1 200", "End of file"},
       }) {
    serve({{receive(), send(answered)}});
    use({.proxies = proxy_at_server()});
    const Answer answer = get(url);
    EXPECT_EQ(answer.kind, ErrorKind::unreachable) << answered;
    EXPECT_THAT(answer.fault, HasSubstr(expected));
  }
}

TEST_F(HttpClientTlsTest, FiltersAddressesBehindAProxyWhereItKnowsThem) {
  serve({{receive(), send(kHello)}});
  use({.proxies = proxy_at_server(), .address_filter = [](const Url&, const boost::asio::ip::address&) -> Result<> {
         return std::unexpected(errors::forbidden("not there"));
       }});
  EXPECT_EQ(get(Url::parse("http://169.254.169.254/latest").value()).kind, ErrorKind::forbidden);
  EXPECT_EQ(get(Url::parse("http://upstream.test/").value()).body, "hello") << "which only the proxy can look up";
  EXPECT_EQ(client_->stats().idle, 1U);
  EXPECT_EQ(get(Url::parse("http://169.254.169.254/latest").value()).kind, ErrorKind::forbidden)
      << "also over the connection that serves all hosts";
  EXPECT_EQ(server_->requests.size(), 1U);
}

}  // namespace
}  // namespace proteus::net::test
