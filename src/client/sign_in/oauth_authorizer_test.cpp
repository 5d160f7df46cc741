#include "client/sign_in/oauth_authorizer.hpp"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/testing/oauth_fixture.hpp"
#include "auth/tokens/jwt.hpp"
#include "base/testing/test_run.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using auth::test::answer;
using auth::test::AnswerTable;
using auth::test::kEndpoint;
using auth::test::kIssuer;
using auth::test::resource_document;
using auth::test::server_document;
using auth::test::url_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kResourcePlace = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
const std::string kNewIssuer = "https://new.example";

boost::json::object tokens(std::string_view access, std::string_view refresh = "") {
  boost::json::object body = {{"access_token", access}, {"token_type", "Bearer"}, {"expires_in", 3600}};
  if (!refresh.empty()) body["refresh_token"] = refresh;
  return body;
}

class OAuthAuthorizerTest : public testing::Test {
 protected:
  OAuthAuthorizerTest() {
    table_.answer(kResourcePlace, answer(resource_document()));
    serve(kIssuer, "first-client");
    options_.redirect_uri = "http://127.0.0.1:7/callback";
    options_.client.description =
        auth::oauth::ClientDescription{.name = "Test", .redirect_uris = {options_.redirect_uri}, .is_native = true};
    options_.authorize = [this](std::string url) { return visit(std::move(url)); };
    options_.keep = [this](const SignIn& sign_in) { kept_.push_back(write_sign_in(sign_in).reveal()); };
  }

  void serve(const std::string& issuer, std::string_view client) {
    table_.answer(issuer + "/.well-known/oauth-authorization-server", answer(server_document(issuer)));
    table_.answer(issuer + "/register", answer({{"client_id", client}}, 201));
  }
  void grants(const boost::json::object& body, unsigned status = 200, const std::string& issuer = kIssuer) {
    table_.answer(issuer + "/token", answer(body, status));
  }

  // Stands in for the person's browser.
  Task<Result<std::string>> visit(std::string url) {
    visits_.push_back(url);
    const auto query = auth::read_form(url.substr(url.find('?') + 1)).value();
    if (!user_agrees_) co_return std::unexpected(errors::forbidden("the person went away"));
    co_return options_.redirect_uri + "?code=c&state=" + auth::form_encoded(auth::find_in(query, "state"));
  }
  std::string visited(std::string_view name) const {
    const std::string& url = visits_.back();
    return std::string(auth::find_in(auth::read_form(url.substr(url.find('?') + 1)).value(), name));
  }

  OAuthAuthorizer& authorizer() {
    if (!authorizer_) authorizer_.emplace(io_.get_executor(), table_, clock_, options_);
    return *authorizer_;
  }
  std::vector<Header> headers() {
    return proteus::test::run(io_, authorizer().headers("POST", url_of(kEndpoint))).value();
  }
  std::string sent() {
    const auto all = headers();
    return all.empty() ? "" : all.front().second;
  }
  Result<bool> refuse(int status, const std::string& challenge = "Bearer", const std::string& nonce = "") {
    const auto with = headers();
    return proteus::test::run(
        io_, authorizer().refused({.status = status, .challenge = challenge, .dpop_nonce = nonce, .sent = with}));
  }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  AnswerTable table_;
  OAuthOptions options_{.endpoint = url_of(kEndpoint)};
  std::optional<OAuthAuthorizer> authorizer_;
  std::vector<std::string> visits_;
  std::vector<std::string> kept_;
  bool user_agrees_ = true;
};

// UPC-16
TEST_F(OAuthAuthorizerTest, SignsInWhenItIsRefused) {
  grants(tokens("t1", "r1"));
  EXPECT_THAT(headers(), IsEmpty());
  EXPECT_TRUE(refuse(401, R"(Bearer scope="a")").value());
  EXPECT_EQ(sent(), "Bearer t1");
  EXPECT_EQ(visited("client_id"), "first-client");
  EXPECT_EQ(visited("scope"), "a");
  EXPECT_EQ(visited("resource"), kEndpoint);
  EXPECT_EQ(kept_.size(), 1U);
}

TEST_F(OAuthAuthorizerTest, GoesOnWithWhatWasKept) {
  grants(tokens("t1", "r1"));
  ASSERT_TRUE(refuse(401));
  const SignIn kept = read_sign_in(kept_.back()).value();
  authorizer_.reset();
  options_.kept = kept;
  options_.authorize = nullptr;
  EXPECT_EQ(sent(), "Bearer t1");
  clock_.advance(1h);
  EXPECT_EQ(sent(), "Bearer t1") << "renewed, and answered the same";
  EXPECT_EQ(table_.form("refresh_token"), "r1");
  EXPECT_EQ(table_.form("client_id"), "first-client");
}

// An upstream that always answers 401 causes one sign-in per pause.
TEST_F(OAuthAuthorizerTest, GivesUpWhereANewTokenIsRefused) {
  grants(tokens("t1"));
  EXPECT_TRUE(refuse(401).value());
  EXPECT_FALSE(refuse(401).value());
  EXPECT_FALSE(refuse(401).value());
  EXPECT_EQ(visits_.size(), 1U);
  clock_.advance(OAuthAuthorizer::kPause);
  EXPECT_TRUE(refuse(401).value());
  EXPECT_EQ(visits_.size(), 2U);
}

TEST_F(OAuthAuthorizerTest, DoesNotAskAPersonAgainAtOnce) {
  user_agrees_ = false;
  EXPECT_FALSE(refuse(401));
  EXPECT_THAT(refuse(401).error().message(), HasSubstr("went away"));
  EXPECT_EQ(visits_.size(), 1U);
}

// UPC-10
TEST_F(OAuthAuthorizerTest, AsksForTheUnionOfScopes) {
  grants(tokens("t1"));
  grants(tokens("t2"));
  ASSERT_TRUE(refuse(401, R"(Bearer scope="a")").value());
  authorizer().accepted("");
  EXPECT_FALSE(refuse(403, "Bearer").value()) << "no matter of scopes";
  EXPECT_TRUE(refuse(403, R"(Bearer error="insufficient_scope", scope="b")").value());
  EXPECT_EQ(visited("scope"), "a b");
  EXPECT_EQ(sent(), "Bearer t2");
  EXPECT_FALSE(refuse(403, R"(Bearer error="insufficient_scope", scope="b")").value()) << "it has that";
  EXPECT_EQ(visits_.size(), 2U);
}

// The server moves to another authorization server, as the specification provides.
TEST_F(OAuthAuthorizerTest, StartsAnewAtAnotherIssuer) {
  table_.clear();
  table_.answer(kResourcePlace, answer(resource_document()));
  table_.answer(kResourcePlace, answer(resource_document(kEndpoint, kNewIssuer)));
  serve(kIssuer, "first-client");
  serve(kNewIssuer, "second-client");
  grants(tokens("t1", "r1"));
  grants(tokens("t2"), 200, kNewIssuer);
  ASSERT_TRUE(refuse(401).value());
  authorizer().accepted("");
  EXPECT_TRUE(refuse(401).value());
  EXPECT_EQ(sent(), "Bearer t2");
  EXPECT_EQ(visited("client_id"), "second-client");
  for (std::size_t i = 0; i < table_.requests.size(); ++i) {
    if (!table_.requests[i].contains(kNewIssuer)) continue;
    EXPECT_THAT(table_.bodies[i], testing::Not(HasSubstr("r1")));
    EXPECT_THAT(table_.bodies[i], testing::Not(HasSubstr("first-client")));
  }
}

TEST_F(OAuthAuthorizerTest, RenewsAheadOfTheEnd) {
  grants(tokens("t1", "r1"));
  grants(tokens("t2", "r2"));
  grants({{"error", "invalid_grant"}}, 400);
  ASSERT_TRUE(refuse(401).value());
  clock_.advance(1h - 10s);
  EXPECT_EQ(sent(), "Bearer t2");
  EXPECT_EQ(table_.form("refresh_token"), "r1");
  EXPECT_EQ(read_sign_in(kept_.back())->granted.refresh_token.reveal(), "r2");
  clock_.advance(1h);
  EXPECT_EQ(sent(), "") << "the grant is gone: the next request is refused, and signs in";
  EXPECT_TRUE(read_sign_in(kept_.back())->granted.refresh_token.empty());
}

TEST_F(OAuthAuthorizerTest, KeepsAGrantThatTheServerCannotRenewNow) {
  grants(tokens("t1", "r1"));
  grants({}, 503);
  ASSERT_TRUE(refuse(401).value());
  clock_.advance(1h - 10s);
  EXPECT_EQ(sent(), "Bearer t1") << "it is still good";
  clock_.advance(10s);
  EXPECT_EQ(proteus::test::run(io_, authorizer().headers("POST", url_of(kEndpoint))).error().kind(),
            ErrorKind::unavailable);
  EXPECT_FALSE(read_sign_in(kept_.back())->granted.refresh_token.empty());
}

// UPC-12
TEST_F(OAuthAuthorizerTest, ProvesItsKeyWithNonces) {
  auto body = tokens("t1");
  body["token_type"] = "DPoP";
  grants(body);
  ASSERT_TRUE(refuse(401, "DPoP algs=\"ES256\"").value());
  auto first = headers();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].second, "DPoP t1");
  EXPECT_TRUE(refuse(401, R"(DPoP error="use_dpop_nonce")", "n1").value());
  const auto second = headers();
  EXPECT_EQ(auth::Jwt::parse(second[1].second)->payload().at("nonce"), "n1");
  // Two requests were under way.
  EXPECT_TRUE(refuse(401, R"(DPoP error="use_dpop_nonce")", "n1").value());
  EXPECT_EQ(visits_.size(), 1U);
}

// UPC-02: the server has removed the client that was registered there.
TEST_F(OAuthAuthorizerTest, RegistersAgainWhereItsClientIsNoLongerKnown) {
  table_.answer(kIssuer + "/register", answer({{"client_id", "second-client"}}, 201));
  grants(tokens("t1", "r1"));
  grants({{"error", "invalid_client"}}, 401);
  grants(tokens("t2", "r2"));
  ASSERT_TRUE(refuse(401).value());
  EXPECT_EQ(visited("client_id"), "first-client");
  clock_.advance(1h);
  EXPECT_EQ(sent(), "") << "the grant has ended with its client";
  EXPECT_EQ(read_sign_in(kept_.back())->client.id, "");
  EXPECT_TRUE(refuse(401).value());
  EXPECT_EQ(visited("client_id"), "second-client");
  EXPECT_EQ(sent(), "Bearer t2");
}

TEST_F(OAuthAuthorizerTest, RefusesATokenThatTheResourceCannotTake) {
  grants(tokens("t1"));
  EXPECT_FALSE(refuse(401, "DPoP"));
}

// UPC-11
TEST_F(OAuthAuthorizerTest, SendsClientCredentialsWithoutAPerson) {
  options_.grant = OAuthGrant::client_credentials;
  options_.client = {.registered = auth::oauth::Client{.issuer = "", .id = "me", .secret = Secret("s")}};
  grants(tokens("t1"));
  grants(tokens("t2"));
  ASSERT_TRUE(refuse(401).value());
  EXPECT_EQ(table_.form("grant_type"), "client_credentials");
  clock_.advance(1h);
  EXPECT_EQ(sent(), "Bearer t2") << "asked for again, where there is nothing to refresh";
  EXPECT_THAT(visits_, IsEmpty());
}

TEST_F(OAuthAuthorizerTest, SaysThatAPersonIsNeededWhereNobodyCanBeAsked) {
  options_.authorize = nullptr;
  EXPECT_EQ(refuse(401).error().kind(), ErrorKind::unauthenticated);
  for (const auto& request : table_.requests)
    EXPECT_THAT(request, HasSubstr("/.well-known/")) << "nothing is registered for it";
}

TEST_F(OAuthAuthorizerTest, TakesTheTokenThatSomebodyElseGot) {
  grants(tokens("t1"));
  ASSERT_TRUE(refuse(401).value());
  const std::vector<Header> before = {{"Authorization", "Bearer t0"}};
  EXPECT_TRUE(proteus::test::run(io_, authorizer().refused({.status = 401, .sent = before})).value());
  EXPECT_EQ(visits_.size(), 1U);
}

TEST(KeptSignIn, IsReadAsItWasWritten) {
  SignIn sign_in{.at = auth::test::discovered(),
                 .client = {.issuer = kIssuer, .id = "c", .secret = Secret("s")},
                 .granted = {.access_token = Secret("a"),
                             .type = auth::oauth::TokenType::dpop,
                             .expires = Clock::Wall(1000s),
                             .refresh_token = Secret("r"),
                             .scopes = {"x", "y"}},
                 .asked = {"x"},
                 .dpop_key = auth::PrivateKey::make()};
  sign_in.client.authentication = auth::oauth::ClientAuthentication::secret_post;
  const Secret text = write_sign_in(sign_in);
  const auto read = read_sign_in(text.reveal());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(write_sign_in(*read), text);
  EXPECT_EQ(read->at.server.token_endpoint, "https://id.example/token");
  EXPECT_EQ(read->dpop_key->thumbprint(), sign_in.dpop_key->thumbprint());
  for (const auto* const bad : {"", "[]", "{}", R"({"server":{"issuer":"x"}})",
                                R"({"server":{"issuer":"https://x"},"client":{},"tokens":{"token_type":"DPoP"}})"})
    EXPECT_FALSE(read_sign_in(bad)) << bad;
}

}  // namespace
}  // namespace proteus::client
