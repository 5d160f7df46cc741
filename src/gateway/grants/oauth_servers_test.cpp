#include "gateway/grants/oauth_servers.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "auth/testing/oauth_fixture.hpp"
#include "base/testing/test_run.hpp"
#include "gateway/grants/vault.hpp"
#include "store/memory_store.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::gateway::test {
namespace {

using auth::test::answer;
using auth::test::kEndpoint;
using auth::test::kIssuer;
using auth::test::resource_document;
using auth::test::server_document;
using providers::OAuthGrant;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const GrantOwner kAda(kIssuer + "\nada");

class OAuthServersTest : public testing::Test {
 protected:
  OAuthServersTest() {
    servers_.set_vault(vault_);
    fetch_.answer("https://mcp.example/.well-known/oauth-protected-resource/mcp", answer(resource_document()));
    fetch_.answer(kIssuer + "/.well-known/oauth-authorization-server", answer(server_document()));
    fetch_.answer(kIssuer + "/token", answer({{"access_token", "x1"},
                                              {"issued_token_type", auth::oauth::kAccessTokenType},
                                              {"token_type", "Bearer"},
                                              {"expires_in", 60}}));
  }

  GrantTarget serve(providers::OAuthSettings oauth) {
    settings_.name = "files";
    settings_.url = kEndpoint;
    settings_.authentication.type = providers::Authentication::Type::oauth;
    settings_.authentication.oauth = std::move(oauth);
    servers_.set_upstreams({settings_});
    return target_of(settings_);
  }
  Result<Grant> obtain(const GrantTarget& target, GrantOwner owner = gateway_owner(), std::string token = {}) {
    return proteus::test::run(io_, servers_.obtain(std::move(owner), target, Secret(std::move(token))));
  }

  boost::asio::io_context io_;
  ManualClock clock_;
  auth::test::AnswerTable fetch_;
  Environment environment_ = [](const std::string& name) -> std::optional<std::string> {
    return name == "SECRET" ? std::optional<std::string>("of the client") : std::nullopt;
  };
  OAuthServers servers_{fetch_, clock_, environment_};
  store::MemoryStore store_;
  Vault vault_{{io_, store_, clock_, servers_}};
  providers::UpstreamSettings settings_;
};

// UPC-11
TEST_F(OAuthServersTest, ObtainsATokenAsAClientWithASecret) {
  const auto target = serve({.grant = OAuthGrant::client_credentials,
                             .scopes = {"read"},
                             .issuer = kIssuer,
                             .client_id = "proteus",
                             .client_secret_env = "SECRET"});
  EXPECT_EQ(servers_.obtaining(target), Obtaining::by_gateway);
  const auto grant = obtain(target);
  ASSERT_TRUE(grant) << grant.error().message();
  EXPECT_EQ(grant->tokens.access_token, Secret("x1"));
  EXPECT_EQ(fetch_.form("grant_type"), "client_credentials");
  EXPECT_EQ(fetch_.form("resource"), kEndpoint);
  EXPECT_EQ(fetch_.form("scope"), "read");
  EXPECT_THAT(fetch_.field("Authorization"), StartsWith("Basic "));
}

// UPC-11
TEST_F(OAuthServersTest, ObtainsATokenByASignedAssertion) {
  const auto key = auth::PrivateKey::make();
  const auto target = serve(
      {.grant = OAuthGrant::client_credentials, .issuer = kIssuer, .client_id = "proteus", .client_key = key.pem()});
  ASSERT_TRUE(obtain(target));
  EXPECT_THAT(fetch_.form("client_assertion_type"), HasSubstr("jwt-bearer"));
  EXPECT_THAT(fetch_.form("client_assertion"), Not(IsEmpty()));
}

// UPC-11, SEC-01: at the issuer of the caller's token, and at no server that the upstream names.
TEST_F(OAuthServersTest, ExchangesACallersTokenAtItsOwnIssuerOnly) {
  const auto target = serve(
      {.grant = OAuthGrant::token_exchange, .issuer = kIssuer, .client_id = "proteus", .client_secret_env = "SECRET"});
  ASSERT_TRUE(obtain(target, kAda, "of ada"));
  EXPECT_EQ(fetch_.form("subject_token"), "of ada");
  EXPECT_THAT(fetch_.form("grant_type"), HasSubstr("token-exchange"));
  // The upstream is not asked which server exchanges tokens.
  EXPECT_THAT(fetch_.requests, Not(Contains(HasSubstr("mcp.example"))));

  fetch_.requests.clear();
  const auto foreign = obtain(target, GrantOwner("https://other.example\nada"), "of ada elsewhere");
  EXPECT_EQ(foreign.error().kind(), ErrorKind::unauthenticated);
  EXPECT_EQ(obtain(target, GrantOwner(kIssuer + ".evil\nada"), "t").error().kind(), ErrorKind::unauthenticated);
  EXPECT_THAT(fetch_.requests, IsEmpty());
}

// UPC-11: workload identity, in a file that the workload's platform renews.
TEST_F(OAuthServersTest, SendsTheAssertionOfAWorkload) {
  const store::test::TemporaryDirectory folder;
  const auto file = folder.path() / "token";
  std::ofstream(file) << "header.claims.signature\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const auto target = serve({.grant = OAuthGrant::jwt_bearer, .issuer = kIssuer, .client_key_file = file});
  const auto grant = obtain(target);
  ASSERT_TRUE(grant) << grant.error().message();
  EXPECT_EQ(fetch_.form("assertion"), "header.claims.signature");
  EXPECT_THAT(fetch_.form("grant_type"), HasSubstr("jwt-bearer"));
}

// UPC-11
TEST_F(OAuthServersTest, SignsTheAssertionWithAKey) {
  const auto key = auth::PrivateKey::make();
  const auto target =
      serve({.grant = OAuthGrant::jwt_bearer, .issuer = kIssuer, .client_id = "proteus", .client_key = key.pem()});
  ASSERT_TRUE(obtain(target));
  EXPECT_THAT(fetch_.form("assertion"), HasSubstr("."));
}

// UPC-11: the identity provider exchanges an ID token for an assertion, and the upstream's own server exchanges the
// assertion for a token.
TEST_F(OAuthServersTest, FollowsTheChainOfIdentityAssertions) {
  const std::string company = "https://company.example";
  fetch_.answer(company + "/.well-known/oauth-authorization-server", answer(server_document(company)));
  fetch_.answer(company + "/token", answer({{"access_token", "an-assertion"},
                                            {"issued_token_type", "urn:ietf:params:oauth:token-type:id-jag"},
                                            {"token_type", "N_A"},
                                            {"expires_in", 60}}));
  const auto target = serve({.grant = OAuthGrant::identity_assertion,
                             .issuer = kIssuer,
                             .client_id = "proteus",
                             .client_secret_env = "SECRET"});
  const GrantOwner ada(company + "\nada");
  EXPECT_EQ(obtain(target, ada).error().kind(), ErrorKind::unauthenticated);
  servers_.set_identity_clients({{company, "gateway", Secret("of the gateway")}});
  EXPECT_EQ(obtain(target, ada).error().kind(), ErrorKind::unauthenticated);

  Grant signed_in;
  signed_in.owner = ada;
  signed_in.target = identity_target(company);
  signed_in.tokens.id_token = Secret("who-ada-is");
  ASSERT_TRUE(proteus::test::run(io_, vault_.put(std::move(signed_in), "ada")));
  fetch_.bodies.clear();
  const auto grant = obtain(target, ada);
  ASSERT_TRUE(grant) << grant.error().message();
  EXPECT_EQ(grant->tokens.access_token, Secret("x1"));
  EXPECT_EQ(fetch_.form("assertion"), "an-assertion");
  EXPECT_THAT(fetch_.bodies, Contains(HasSubstr("who-ada-is")));
}

Grant kept(const GrantTarget& target) {
  Grant grant;
  grant.owner = kAda;
  grant.target = target;
  grant.resource = kEndpoint;
  grant.server = auth::test::discovered().server;
  grant.client.issuer = kIssuer;
  grant.client.id = "proteus";
  grant.tokens.access_token = Secret("a1");
  grant.tokens.refresh_token = Secret("r1");
  return grant;
}

// UPC-08
TEST_F(OAuthServersTest, RefreshesWithTheClientOfTheSettings) {
  const auto target = serve({.issuer = kIssuer, .client_id = "proteus", .client_secret_env = "SECRET"});
  EXPECT_EQ(servers_.obtaining(target), Obtaining::by_person);
  auto done = proteus::test::run(io_, servers_.refresh(std::make_shared<const Grant>(kept(target))));
  EXPECT_EQ(done.outcome, Refreshed::Outcome::renewed) << done.why;
  EXPECT_EQ(fetch_.form("refresh_token"), "r1");
  EXPECT_THAT(fetch_.field("Authorization"), StartsWith("Basic "));
  EXPECT_THAT(fetch_.requests, ElementsAre("POST " + kIssuer + "/token"));
}

// What becomes of a grant depends on whether its refresh token may have been used.
TEST_F(OAuthServersTest, TellsWhetherARefreshTokenMayHaveBeenUsed) {
  const auto target = serve({.issuer = kIssuer, .client_id = "proteus"});
  bool dynamic = false;
  const auto outcome_of = [&](Result<auth::FetchAnswer> said) {
    fetch_.clear();
    fetch_.answer(kIssuer + "/token", std::move(said));
    Grant grant = kept(target);
    if (dynamic) grant.client.registered = auth::oauth::Registered::dynamically;
    return proteus::test::run(io_, servers_.refresh(std::make_shared<const Grant>(std::move(grant)))).outcome;
  };
  using enum Refreshed::Outcome;
  EXPECT_EQ(outcome_of(answer({{"error", "invalid_grant"}}, 400)), refused);
  EXPECT_EQ(outcome_of(answer({{"error", "invalid_client"}}, 401)), unused);
  dynamic = true;
  EXPECT_EQ(outcome_of(answer({{"error", "invalid_client"}}, 401)), client_gone);
  dynamic = false;
  EXPECT_EQ(outcome_of(auth::FetchAnswer{.status = 503}), unused);
  EXPECT_EQ(outcome_of(std::unexpected(errors::unreachable("refused"))), unused);
  EXPECT_EQ(outcome_of(std::unexpected(errors::timeout("the answer"))), unknown);
  EXPECT_EQ(outcome_of(std::unexpected(errors::interrupted("it closed"))), unknown);
  EXPECT_EQ(outcome_of(auth::FetchAnswer{.status = 200, .body = "what"}), unknown);
}

// UPC-14
TEST_F(OAuthServersTest, RevokesTheRefreshToken) {
  const auto target = serve({.issuer = kIssuer, .client_id = "proteus"});
  fetch_.answer(kIssuer + "/revoke", auth::FetchAnswer{.status = 200});
  EXPECT_TRUE(proteus::test::run(io_, servers_.revoke(std::make_shared<const Grant>(kept(target)))));
  EXPECT_EQ(fetch_.form("token"), "r1");
  Grant without = kept(target);
  without.server.revocation_endpoint.clear();
  EXPECT_EQ(proteus::test::run(io_, servers_.revoke(std::make_shared<const Grant>(without))).error().kind(),
            ErrorKind::unsupported);
  without.tokens = {};
  EXPECT_TRUE(proteus::test::run(io_, servers_.revoke(std::make_shared<const Grant>(without)))) << "nothing to revoke";
}

}  // namespace
}  // namespace proteus::gateway::test
