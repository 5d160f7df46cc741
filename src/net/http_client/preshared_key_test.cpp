// TLS with a secret that both sides know.
#include "net/testing/http_client_fixture.hpp"
#include "net/testing/self_signed.hpp"

namespace proteus::net::test {
namespace {

const std::string kKey(32, 'k');

class PresharedKeyTest : public HttpClientTest {
 protected:
  void serve_with(const TlsContext& tls) { serve({{start_tls(), receive(), send(kHello)}}, "127.0.0.1", tls); }
  Answer get_by(std::string_view key) {
    use({.tls = TlsContext::client_with_key(key)});
    return get(server_->url("/", "https://127.0.0.1"));
  }
};

TEST_F(PresharedKeyTest, ConnectsThoseWhoHaveIt) {
  serve_with(TlsContext::server_with_key(kKey));
  const Answer answer = get_by(kKey);
  EXPECT_EQ(answer.body, "hello") << answer.fault;
}

TEST_F(PresharedKeyTest, ConnectsNobodyWithAnother) {
  serve_with(TlsContext::server_with_key(kKey));
  EXPECT_EQ(get_by(std::string(32, 'o')).kind, ErrorKind::unreachable);
  EXPECT_TRUE(server_->requests.empty());
}

TEST_F(PresharedKeyTest, IsNotReplacedByACertificate) {
  const SelfSigned identity;
  serve_with(TlsContext::server(identity.certificate_file(), identity.key_file()).value());
  EXPECT_EQ(get_by(kKey).kind, ErrorKind::unreachable);
  EXPECT_TRUE(server_->requests.empty());

  serve_with(TlsContext::server_with_key(kKey));
  use({});  // a client without a key
  EXPECT_EQ(get(server_->url("/", "https://127.0.0.1")).kind, ErrorKind::unreachable);
  EXPECT_TRUE(server_->requests.empty());
}

TEST_F(PresharedKeyTest, IsNeverUsedWithoutTls) {
  serve_with(TlsContext::server_with_key(kKey));
  use({.tls = TlsContext::client_with_key(kKey)});
  EXPECT_NE(get().status, 200U);
  EXPECT_TRUE(server_->requests.empty());
}

}  // namespace
}  // namespace proteus::net::test
