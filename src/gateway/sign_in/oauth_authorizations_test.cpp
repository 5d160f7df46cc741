#include "gateway/sign_in/oauth_authorizations.hpp"

#include <atomic>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gateway/testing/test_gateway.hpp"
#include "net/testing/http_test_server.hpp"

namespace proteus::gateway {
namespace {

// A gateway with one upstream, whose authorization server is on the same port and numbers its clients.
class OAuthAuthorizationsTest : public ::testing::Test {
 protected:
  OAuthAuthorizationsTest() {
    ticket_.person = {Person::Kind::user, "ada"};
    ticket_.upstream = "notes";
    settings_ = test::upstream_at("notes", server_.port());
    settings_.authentication.type = providers::Authentication::Type::oauth;
    gateway_.emplace(std::vector{settings_});
    authorizations_.emplace(
        OAuthAuthorizations::Dependencies{gateway_->gateway, gateway_->gateway.vault(), gateway_->gateway.clock()});
  }

  Task<> serve(net::Exchange& exchange) {
    const std::string at = fmt::format("http://127.0.0.1:{}", server_.port());
    const std::string_view path = exchange.request().path();
    boost::json::object body;
    unsigned status = 200;
    if (path == "/.well-known/oauth-protected-resource/mcp") {
      body = {{"resource", at + "/mcp"}, {"authorization_servers", {at}}};
    } else if (path == "/.well-known/oauth-authorization-server") {
      body = {{"issuer", at},
              {"authorization_endpoint", at + "/authorize"},
              {"token_endpoint", at + "/token"},
              {"registration_endpoint", at + "/register"},
              {"code_challenge_methods_supported", {"S256"}}};
    } else if (path == "/register" && is_closed_) {
      status = 500;
    } else if (path == "/register") {
      body = {{"client_id", fmt::format("client-{}", ++clients_)}};
      status = 201;
    } else if (path == "/token") {
      body = {{"error", "invalid_client"}};
      status = 401;
    } else {
      status = 404;
    }
    co_await exchange.reply({.status = status, .content_type = "application/json"}, boost::json::serialize(body));
  }

  // Returns the plan with which a person leaves after consent.
  PlanPointer leave() {
    return gateway_->run(authorizations_->plan(ticket_, Authorizations::Registration::if_needed)).value();
  }

  std::atomic<int> clients_ = 0;
  std::atomic<bool> is_closed_ = false;  // to registrations
  net::TestServer server_{[this](net::Exchange& exchange) { return serve(exchange); }};
  std::optional<test::TestGateway> gateway_;
  std::optional<OAuthAuthorizations> authorizations_;
  Ticket ticket_;
  providers::UpstreamSettings settings_;
};

// UPC-08
TEST_F(OAuthAuthorizationsTest, PlansForTheUpstreamAndNotForItsName) {
  EXPECT_EQ(leave()->target, target_of(settings_));
}

// UPC-02: the client is registered once.
TEST_F(OAuthAuthorizationsTest, RegistersOneClientForAllWhoSignIn) {
  EXPECT_FALSE(gateway_->run(authorizations_->plan(ticket_, Authorizations::Registration::as_it_is))
                   .value()
                   ->client.has_value());
  for (int i = 0; i < 10; ++i) {
    const auto plan = leave();
    EXPECT_EQ(plan->client->id, "client-1");
    gateway_->run(authorizations_->came_back(plan, i % 2 == 0 ? "" : "access_denied"));
  }
}

// UPC-02: the server has removed the client. It says so at its token endpoint,
TEST_F(OAuthAuthorizationsTest, RegistersAgainWhereTheTokenEndpointDoesNotKnowTheClient) {
  const auto plan = leave();
  EXPECT_FALSE(gateway_->run(authorizations_->redeem(plan, {}, Secret("code"))));
  EXPECT_EQ(leave()->client->id, "client-2");
}

// to a person who comes back,
TEST_F(OAuthAuthorizationsTest, RegistersAgainWhereAPersonComesBackWithSuchAnError) {
  gateway_->run(authorizations_->came_back(leave(), "unauthorized_client"));
  EXPECT_EQ(leave()->client->id, "client-2");
}

// or, as RFC 6749 (section 4.1.2.1) wants it, sends nobody back at all.
TEST_F(OAuthAuthorizationsTest, RegistersAgainWhereNobodyComesBack) {
  for (unsigned i = 0; i < OAuthAuthorizations::kMostLost; ++i)
    EXPECT_EQ(leave()->client->id, "client-1");
  EXPECT_EQ(leave()->client->id, "client-2");
  // Not again at once.
  for (unsigned i = 0; i < 3 * OAuthAuthorizations::kMostLost; ++i)
    EXPECT_EQ(leave()->client->id, "client-2");
}

// UPC-02: anybody can stay away, or come back with an error of their own.
TEST_F(OAuthAuthorizationsTest, GoesOnWithItsClientWhereItGetsNoOther) {
  EXPECT_EQ(leave()->client->id, "client-1");
  is_closed_ = true;
  for (unsigned i = 0; i < 3 * OAuthAuthorizations::kMostLost; ++i)
    EXPECT_EQ(leave()->client->id, "client-1");
}

TEST_F(OAuthAuthorizationsTest, GoesOnWithItsClientWhereSomebodyComesBackWithAnErrorAndItGetsNoOther) {
  const auto plan = leave();
  is_closed_ = true;
  gateway_->run(authorizations_->came_back(plan, "invalid_client"));
  EXPECT_EQ(leave()->client->id, "client-1");
}

}  // namespace
}  // namespace proteus::gateway
