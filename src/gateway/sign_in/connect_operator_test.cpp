#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "auth/tokens/private_key.hpp"
#include "gateway/testing/connect_fixture.hpp"

namespace proteus::gateway {
namespace {

// An operator who signs in on the operators' page by the identity provider.
class OperatorTest : public ConnectTest {
 protected:
  Task<> send(net::Exchange& exchange) {
    const auto sent = co_await site_.send_operator(exchange.request(), kProvider, "/ui");
    const std::string fields =
        sent ? fmt::format("Location: {}\r\nSet-Cookie: {}\r\n", sent->url, sent->cookie) : std::string();
    co_await exchange.reply({.status = sent ? 303U : 400U, .prepared = fields});
  }

  // Returns the answer to the browser that comes back with an ID token that lacks nothing but what `change` changes.
  template <class Change>
  net::Answer sign_in(Change&& change) {
    auto client = page_.connect();
    client.send(fmt::format("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: {}\r\n\r\n", host_.url));
    const net::Answer sent = client.receive();
    const std::string away = location(sent);
    const std::string cookie = field_of(sent, "Set-Cookie: ");
    boost::json::object claims{{"iss", kProvider},    {"sub", "ops"},
                               {"aud", "the-client"}, {"nonce", parameter(away, "nonce")},
                               {"iat", started_},     {"exp", started_ + 3600}};
    change(claims);
    servers_.id_token = auth::PrivateKey::make().sign_token({{"typ", "JWT"}}, claims);
    TestBrowser browser(*this);
    browser.set_cookie(cookie.substr(0, cookie.find(';')));
    return browser.get(callback(away, "ops", kProvider));
  }

  const std::int64_t started_ = std::chrono::system_clock::to_time_t(clock_.wall());
  net::TestServer page_{[this](net::Exchange& exchange) { return send(exchange); }};
};

TEST_F(OperatorTest, SignsInWithAnAnswerToTheirOwnRequestOnly) {
  EXPECT_EQ(sign_in([](auto&) {}).status, 303);
  EXPECT_EQ(sign_in([](auto& claims) { claims["iss"] = "https://other.example"; }).status, 403);
  EXPECT_EQ(sign_in([](auto& claims) { claims["aud"] = "another-client"; }).status, 403);
  EXPECT_EQ(sign_in([](auto& claims) { claims["nonce"] = "another"; }).status, 403);
}

// OpenID Connect Core, section 3.1.3.7
TEST_F(OperatorTest, DoesNotSignInWithAnAnswerThatHasExpired) {
  clock_.advance(std::chrono::hours(2));
  EXPECT_EQ(sign_in([](auto&) {}).status, 403);
  EXPECT_EQ(sign_in([](auto& claims) { claims.erase("exp"); }).status, 403);
  EXPECT_EQ(sign_in([this](auto& claims) { claims["exp"] = started_ + 4 * 3600; }).status, 303);
}

}  // namespace
}  // namespace proteus::gateway
