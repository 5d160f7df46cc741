#include "auth/oauth/token_request.hpp"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/oauth/run.hpp"
#include "auth/testing/oauth_fixture.hpp"
#include "auth/tokens/dpop.hpp"
#include "auth/tokens/jwt.hpp"
#include "base/testing/test_run.hpp"

namespace proteus::auth::oauth {
namespace {

using namespace proteus::auth::test;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const Client kSecretClient{.issuer = kIssuer, .id = "cli ent", .secret = Secret("s:cret")};
const boost::json::object kGranted = {{"access_token", "at"}, {"token_type", "bearer"}, {"expires_in", 60}};

class OAuthTokenRequest : public testing::Test {
 protected:
  Result<TokenAnswer> ask(Grant grant, const Client& client = kSecretClient, DpopProver* prover = nullptr) {
    auto request = TokenRequest::make(discovered().server, client, std::move(grant), clock_, prover);
    if (!request) return std::unexpected(std::move(request.error()));
    return run_on(table_, std::move(*request));
  }
  void grants(const boost::json::object& body, unsigned status = 200) {
    table_.answer("https://id.example/token", answer(body, status));
  }
  ErrorKind kind(const boost::json::object& body, unsigned status) {
    table_.clear();
    grants(body, status);
    return ask(client_credentials_grant(kEndpoint, {})).error().kind();
  }

  ManualClock clock_;
  AnswerTable table_;
};

// UPC-03: `resource` in both requests
TEST_F(OAuthTokenRequest, TradesACode) {
  grants({{"access_token", "at"}, {"token_type", "Bearer"}, {"expires_in", "60"}, {"refresh_token", "rt"}});
  const AuthorizationRequest request{.url = "",
                                     .state = "s",
                                     .verifier = Secret("verifier"),
                                     .issuer = kIssuer,
                                     .client_id = "c",
                                     .redirect_uri = "http://127.0.0.1/cb",
                                     .resource = kEndpoint,
                                     .scopes = {"a"}};
  const auto granted = ask(code_grant(request, Secret("code&")));
  ASSERT_TRUE(granted) << granted.error().message();
  EXPECT_EQ(granted->access_token.reveal(), "at");
  EXPECT_EQ(granted->refresh_token.reveal(), "rt");
  EXPECT_EQ(granted->expires, clock_.wall() + 60s);
  EXPECT_THAT(granted->scopes, ElementsAre("a")) << "what was asked for, where nothing is said";
  EXPECT_THAT(table_.requests, ElementsAre("POST https://id.example/token"));
  EXPECT_EQ(table_.form("grant_type"), "authorization_code");
  EXPECT_EQ(table_.form("code"), "code&");
  EXPECT_EQ(table_.form("code_verifier"), "verifier");
  EXPECT_EQ(table_.form("redirect_uri"), "http://127.0.0.1/cb");
  EXPECT_EQ(table_.form("resource"), kEndpoint);
  EXPECT_EQ(table_.field("Authorization"), "Basic Y2xpJTIwZW50OnMlM0FjcmV0");
  EXPECT_EQ(table_.form("client_secret"), "");
}

TEST_F(OAuthTokenRequest, Refreshes) {
  grants({{"access_token", "at"}, {"token_type", "Bearer"}, {"scope", "b"}});
  const auto granted = ask(refresh_grant(Secret("rt"), kEndpoint, Scopes{"a", "b"}));
  ASSERT_TRUE(granted);
  EXPECT_TRUE(granted->refresh_token.empty()) << "the one before stays";
  EXPECT_EQ(granted->expires, std::nullopt);
  EXPECT_THAT(granted->scopes, ElementsAre("b"));
  EXPECT_EQ(table_.form("refresh_token"), "rt");
  EXPECT_EQ(table_.form("resource"), kEndpoint);
  EXPECT_EQ(table_.form("scope"), "");
}

// UPC-11
TEST_F(OAuthTokenRequest, SendsClientCredentialsInEachWay) {
  grants(kGranted);
  ASSERT_TRUE(ask(client_credentials_grant(kEndpoint, Scopes{"a"})));
  EXPECT_EQ(table_.form("scope"), "a");
  EXPECT_EQ(table_.form("client_id"), "");
  Client post = kSecretClient;
  post.authentication = ClientAuthentication::secret_post;
  ASSERT_TRUE(ask(client_credentials_grant(kEndpoint, {}), post));
  EXPECT_EQ(table_.form("client_secret"), "s:cret");
  EXPECT_EQ(table_.field("Authorization"), "");
  const Client key{.issuer = kIssuer, .id = "c", .key = PrivateKey::make(), .key_id = "k1"};
  ASSERT_TRUE(ask(client_credentials_grant(kEndpoint, {}), key));
  EXPECT_EQ(table_.form("client_assertion_type"), "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  const std::string text = table_.form("client_assertion");
  const auto assertion = Jwt::parse(text);
  ASSERT_TRUE(assertion) << assertion.error().message();
  EXPECT_TRUE(assertion->is_signed_by(PublicKey::read(key.key->jwk()).value()));
  EXPECT_EQ(assertion->key_id(), "k1");
  const auto claims = Claims::read(assertion->payload()).value();
  EXPECT_EQ(claims.issuer(), "c");
  EXPECT_EQ(claims.subject(), "c");
  EXPECT_THAT(claims.audiences(), ElementsAre(kIssuer));
  EXPECT_EQ(claims.expires(), clock_.wall() + 60s);
  EXPECT_FALSE(claims.all().at("jti").as_string().empty());
}

TEST_F(OAuthTokenRequest, ExchangesTokens) {
  auto body = kGranted;
  body["issued_token_type"] = kAccessTokenType;
  grants(body);
  ASSERT_TRUE(ask(token_exchange_grant(Secret("st"), kAccessTokenType, kEndpoint, "", {})));
  EXPECT_EQ(table_.form("grant_type"), "urn:ietf:params:oauth:grant-type:token-exchange");
  EXPECT_EQ(table_.form("subject_token"), "st");
  EXPECT_EQ(table_.form("subject_token_type"), kAccessTokenType);
  EXPECT_EQ(table_.form("resource"), kEndpoint);
  table_.clear();
  grants(kGranted);
  EXPECT_FALSE(ask(token_exchange_grant(Secret("st"), kAccessTokenType, kEndpoint, "", {})))
      << "it must say what it issued";
}

TEST_F(OAuthTokenRequest, FollowsTheEnterpriseChain) {
  const std::string provider = "https://idp.example";
  table_.answer(
      provider + "/token",
      answer({{"access_token", "jag"}, {"token_type", "N_A"}, {"issued_token_type", kIdentityAssertionType}}));
  grants(kGranted);
  boost::asio::io_context io;
  const auto granted =
      proteus::test::run(io, follow_chain(table_, clock_,
                                          {.identity_provider = discovered(server_document(provider)).server,
                                           .client_there = {.issuer = provider, .id = "there"},
                                           .id_token = Secret("id"),
                                           .discovered = discovered(),
                                           .client = kSecretClient}));
  ASSERT_TRUE(granted) << granted.error().message();
  const auto first = read_form(table_.bodies.front()).value();
  EXPECT_EQ(find_in(first, "subject_token"), "id");
  EXPECT_EQ(find_in(first, "subject_token_type"), kIdTokenType);
  EXPECT_EQ(find_in(first, "requested_token_type"), kIdentityAssertionType);
  EXPECT_EQ(find_in(first, "audience"), kIssuer);
  EXPECT_EQ(find_in(first, "resource"), kEndpoint);
  EXPECT_EQ(find_in(first, "client_id"), "there");
  EXPECT_EQ(table_.form("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
  EXPECT_EQ(table_.form("assertion"), "jag");
}

// UPC-12
TEST_F(OAuthTokenRequest, ProvesItsKeyAndTakesANonceOnce) {
  table_.answer("https://id.example/token",
                FetchAnswer{.status = 400, .body = R"({"error":"use_dpop_nonce"})", .dpop_nonce = "n1"});
  grants({{"access_token", "at"}, {"token_type", "DPoP"}});
  DpopProver prover;
  const auto granted = ask(client_credentials_grant(kEndpoint, {}), kSecretClient, &prover);
  ASSERT_TRUE(granted) << granted.error().message();
  EXPECT_EQ(granted->type, TokenType::dpop);
  EXPECT_EQ(table_.requests.size(), 2U);
  const std::string proof = prover.proof("POST", url_of("https://mcp.example/mcp?x=1"), clock_.wall(), "at");
  EXPECT_TRUE(check_proof(proof, {.method = "POST",
                                  .url = "https://mcp.example/mcp",
                                  .token = "at",
                                  .thumbprint = prover.key().thumbprint(),
                                  .now = clock_.wall()}));
  const std::string sent = table_.field("DPoP");
  EXPECT_EQ(Jwt::parse(sent)->payload().at("nonce"), "n1");
  EXPECT_EQ(Jwt::parse(sent)->payload().at("htu"), "https://id.example/token");
  EXPECT_FALSE(Jwt::parse(proof)->payload().contains("nonce")) << "a nonce is of its origin";
  // A server that demands a new nonce each time gets two requests.
  table_.clear();
  for (const auto* const nonce : {"a", "b", "c"})
    table_.answer("https://id.example/token",
                  FetchAnswer{.status = 400, .body = R"({"error":"use_dpop_nonce"})", .dpop_nonce = nonce});
  EXPECT_FALSE(ask(client_credentials_grant(kEndpoint, {}), kSecretClient, &prover));
  EXPECT_EQ(table_.requests.size(), 2U);
}

TEST_F(OAuthTokenRequest, IsBoundToTheIssuerOfItsClient) {
  grants(kGranted);
  const Client other{.issuer = "https://other.example", .id = "c", .secret = Secret("s")};
  EXPECT_THAT(ask(client_credentials_grant(kEndpoint, {}), other).error().message(), HasSubstr("another issuer"));
  EXPECT_FALSE(revocation_request(discovered().server, other, Secret("t"), "", clock_.wall()));
  EXPECT_TRUE(table_.requests.empty());
}

TEST_F(OAuthTokenRequest, SaysWhatToDoAboutARefusal) {
  EXPECT_EQ(kind({{"error", "invalid_grant"}}, 400), ErrorKind::unauthenticated);
  EXPECT_EQ(kind({{"error", "invalid_client"}}, 401), ErrorKind::not_found);
  EXPECT_EQ(kind({{"error", "invalid_scope"}}, 400), ErrorKind::forbidden);
  EXPECT_EQ(kind({{"error", "temporarily_unavailable"}}, 400), ErrorKind::unavailable);
  EXPECT_EQ(kind({{"error", "invalid_grant"}}, 503), ErrorKind::unavailable) << "it may not know itself";
  EXPECT_EQ(kind({}, 429), ErrorKind::unavailable);
  EXPECT_EQ(kind({}, 400), ErrorKind::protocol);
  EXPECT_EQ(kind(kGranted, 201), ErrorKind::protocol);
}

// UPC-18
TEST_F(OAuthTokenRequest, RefusesATokenOfTheWrongKind) {
  const boost::json::object bad[] = {
      {},
      {{"access_token", "at"}},
      {{"access_token", "at"}, {"token_type", "mac"}},
      {{"access_token", "at"}, {"token_type", "N_A"}},
      {{"access_token", "at"}, {"token_type", "DPoP"}},
      {{"access_token", ""}, {"token_type", "Bearer"}},
      {{"access_token", 1}, {"token_type", "Bearer"}},
      {{"access_token", "a\r\nX: y"}, {"token_type", "Bearer"}},
      {{"access_token", std::string(kMaxToken + 1, 'a')}, {"token_type", "Bearer"}},
      {{"access_token", "at"}, {"token_type", "Bearer"}, {"expires_in", -1}},
      {{"access_token", "at"}, {"token_type", "Bearer"}, {"expires_in", "soon"}},
      {{"access_token", "at"}, {"token_type", "Bearer"}, {"refresh_token", {1}}},
      {{"access_token", "at"}, {"token_type", "Bearer"}, {"scope", {"a"}}},
  };
  for (const auto& body : bad)
    EXPECT_EQ(kind(body, 200), ErrorKind::protocol) << boost::json::serialize(body).substr(0, 80);
  const Grant grant = client_credentials_grant(kEndpoint, {});
  for (const auto* const text : {"", "[]", "nothing", R"({"access_token":"a","access_token":"b"})"})
    EXPECT_FALSE(read_token_answer({.status = 200, .body = text}, grant, clock_.wall())) << text;
  const auto endless =
      read_token_answer({.status = 200, .body = R"({"access_token":"a","token_type":"Bearer","expires_in":1e300})"},
                        grant, clock_.wall());
  ASSERT_TRUE(endless);
  EXPECT_EQ(endless->expires, clock_.wall() + std::chrono::hours(24 * 365));
}

TEST_F(OAuthTokenRequest, Revokes) {
  const auto request =
      revocation_request(discovered().server, kSecretClient, Secret("rt"), "refresh_token", clock_.wall());
  ASSERT_TRUE(request && *request);
  EXPECT_EQ((*request)->url.text(), "https://id.example/revoke");
  EXPECT_EQ((*request)->body.reveal(), "token=rt&token_type_hint=refresh_token");
  ServerMetadata without = discovered().server;
  without.revocation_endpoint.clear();
  EXPECT_EQ(revocation_request(without, kSecretClient, Secret("rt"), "", clock_.wall())->has_value(), false);
  EXPECT_TRUE(read_revocation({.status = 200}));
  EXPECT_FALSE(read_revocation({.status = 503}));
}

TEST_F(OAuthTokenRequest, RegistersOnlyWhereNeeded) {
  boost::asio::io_context io;
  table_.answer("https://id.example/register", answer({{"client_id", "new"}}, 201));
  const ClientSources sources{.description = ClientDescription{.name = "P", .redirect_uris = {"http://127.0.0.1/"}}};
  const auto made = proteus::test::run(io, find_client(table_, clock_, discovered(), sources));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->id, "new");
  ClientSources again = sources;
  again.registered = *made;
  ASSERT_TRUE(proteus::test::run(io, find_client(table_, clock_, discovered(), again)));
  EXPECT_EQ(table_.requests.size(), 1U);
}

}  // namespace
}  // namespace proteus::auth::oauth
