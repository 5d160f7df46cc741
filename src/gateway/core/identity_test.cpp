// Callers for whom an identity provider vouches, as the gateway serves them.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/testing/fake_issuer.hpp"
#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using namespace std::chrono_literals;
using namespace test;
using auth::Algorithm;
using auth::test::FakeIssuer;
using auth::test::SigningKey;
using server::modern_fields;
using server::modern_meta;
using server::rpc;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kBase = "https://mcp.example.com";

class IdentityTest : public testing::Test {
 protected:
  IdentityTest() : upstream_({"read_it", "write_it"}), gateway_({upstream_at("up", upstream_.port)}, setup()) {
    issuer_.publish({key_.jwk()});
    gateway_.gateway.identities().set_public_url(*net::Url::parse(kBase));
    gateway_.discover();
  }

  TestGateway::Setup setup() const {
    TestGateway::Setup setup;
    setup.clock = &clock_;
    setup.principals = {{.name = "static", .token = Secret("static-token")}};
    setup.manifests.contexts = {{"work", {}}, {"home", {}}};
    return setup;
  }

  void rules(std::vector<Rule> rules) {
    gateway_.gateway.set_identities(
        {.issuers = {{.issuer = issuer_.url(), .scopes = {"tools"}}}, .rules = std::move(rules)});
  }

  std::string token(std::string_view subject, std::string_view group, std::string audience = std::string(kBase),
                    std::chrono::seconds lives = 5min) const {
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();
    return key_.token({{"iss", issuer_.url()},
                       {"sub", subject},
                       {"aud", std::move(audience)},
                       {"iat", now},
                       {"exp", now + lives.count()},
                       {"groups", {group}}});
  }

  RawClient::Answer list(std::string_view token, std::string path = "/mcp") {
    RawClient client(gateway_.port(), std::move(path));
    return client.request("POST", modern_fields("tools/list") + (token.empty() ? "" : bearer(token)),
                          rpc("1", "tools/list", modern_meta()));
  }

  ManualClock clock_;
  SigningKey key_{Algorithm::es256, "one"};
  FakeIssuer issuer_;
  Upstream upstream_;
  TestGateway gateway_;
};

// OAU-01, OAU-06, OAU-07
TEST_F(IdentityTest, TheFirstRuleThatFitsSaysWhatACallerSees) {
  rules({{.match = {{"groups", {"readers"}}}, .tools = {"up_read*"}}, {.match = {{"groups", {"writers"}}}}});
  EXPECT_THAT(gateway_.tools(bearer(token("a", "readers"))), ElementsAre("up_read_it"));
  EXPECT_THAT(gateway_.tools(bearer(token("b", "writers"))), ElementsAre("up_read_it", "up_write_it"));
  EXPECT_EQ(gateway_.call("up_write_it", "{}", bearer(token("a", "readers"))).at("error").at("code"), -32602);
  EXPECT_THAT(gateway_.tools(bearer("static-token")), ElementsAre("up_read_it", "up_write_it"));
}

// OAU-06
TEST_F(IdentityTest, ACallerWhomNoRuleFitsIsRefusedWithoutTheReason) {
  rules({{.match = {{"groups", {"readers"}}}}});
  const auto refused = list(token("a", "nobody"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, Not(HasSubstr("groups")));
  EXPECT_EQ(gateway_.gateway.refusals().count(RefusalReason::rule), 1U);
}

// OAU-04, OAU-15
TEST_F(IdentityTest, ARefusalSaysWhereToAskForAToken) {
  rules({{}});
  const auto plain = list("");
  EXPECT_EQ(plain.status, 401);
  EXPECT_EQ(
      plain.field("www-authenticate"),
      R"(Bearer scope="tools", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp")"
      R"(, DPoP scope="tools", )"
      R"(resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", )"
      R"(algs="RS256 PS256 ES256 ES384 EdDSA")");
  const auto unknown = list("", "/mcp/nothing");
  const auto known = list("", "/mcp/work");
  EXPECT_EQ(unknown.status, 401);
  EXPECT_EQ(unknown.body, known.body) << "whether there is such a context is not to be learned";
  EXPECT_THAT(list("garbage").field("www-authenticate"),
              AllOf(StartsWith("Bearer error=\"invalid_token\""), HasSubstr("resource_metadata=")));
}

// OAU-05
TEST_F(IdentityTest, ATokenIsGoodForItsOwnEndpointOrForAll) {
  rules({{}});
  EXPECT_EQ(list(token("a", "x"), "/mcp/work").status, 200);
  const std::string for_work = token("a", "x", "https://mcp.example.com/mcp/work");
  EXPECT_EQ(list(for_work, "/mcp/work").status, 200);
  EXPECT_EQ(list(for_work, "/mcp/home").status, 401);
  EXPECT_EQ(list(for_work, "/mcp").status, 401);
  EXPECT_EQ(list(for_work, "/mcp/work").status, 200);
  EXPECT_EQ(list(token("a", "x", "https://other.example.com/mcp")).status, 401);
}

// OAU-12, OAU-17
TEST_F(IdentityTest, ATokenIsVerifiedOnceAndNeverSentOn) {
  rules({{}});
  const std::string one = token("a", "x");
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(gateway_.call("up_read_it", "{}", bearer(one)).as_object().contains("result")) << i;
  EXPECT_LE(issuer_.asked(FakeIssuer::kKeys), 1U);
}

// SEC-05
TEST_F(IdentityTest, NoCacheMayGiveOneCallersListToAnother) {
  EXPECT_EQ(list("static-token").json().at("result").at("cacheScope"), "public");
  rules({{.match = {{"groups", {"readers"}}}, .tools = {"up_read*"}}});
  EXPECT_EQ(list("static-token").json().at("result").at("cacheScope"), "private");
  EXPECT_EQ(list(token("a", "readers")).json().at("result").at("cacheScope"), "private");
}

// OAU-06: issuers and rules may change at runtime.
TEST_F(IdentityTest, OtherRulesHoldFromTheNextRequestOn) {
  rules({{}});
  const std::string one = token("a", "readers");
  EXPECT_THAT(gateway_.tools(bearer(one)), ElementsAre("up_read_it", "up_write_it"));
  rules({{.match = {{"groups", {"readers"}}}, .tools = {"up_read*"}}});
  EXPECT_THAT(gateway_.tools(bearer(one)), ElementsAre("up_read_it"));
  gateway_.gateway.set_identities({});
  EXPECT_EQ(list(one).status, 401);
}

// OAU-06
TEST_F(IdentityTest, ARequestWhoseBodyComesAfterTheRulesHaveChangedIsRefused) {
  rules({{}});
  const std::string one = token("a", "readers");
  const std::string body =
      rpc("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta());
  RawClient slow(gateway_.port());
  slow.send_request("POST", modern_fields("subscriptions/listen") + bearer(one) +
                                fmt::format("Content-Type: application/json\r\nExpect: 100-continue\r\n"
                                            "Content-Length: {}\r\n",
                                            body.size()));
  ASSERT_EQ(slow.read_answer().status, 100) << "it was admitted";
  rules({{.match = {{"groups", {"readers"}}}, .tools = {"up_read*"}}});
  slow.send(body);
  EXPECT_EQ(slow.read_answer().status, 401);
  EXPECT_THAT(gateway_.tools(bearer(one)), ElementsAre("up_read_it"));
}

// OAU-09
TEST_F(IdentityTest, TwoSubjectsHaveNothingInCommonButTheirView) {
  rules({{}});
  const std::string hello =
      R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"})";
  RawClient first(gateway_.port());
  const auto begun = first.request("POST", bearer(token("a", "x")), rpc("0", "initialize", hello));
  ASSERT_EQ(begun.status, 200);
  const std::string session = "Mcp-Session-Id: " + begun.field("mcp-session-id") + "\r\n";
  RawClient second(gateway_.port());
  EXPECT_EQ(second.request("POST", bearer(token("b", "x")) + session, rpc("1", "tools/list", "")).status, 404);
  // OAU-10: another token of the same subject.
  RawClient again(gateway_.port());
  EXPECT_EQ(
      again.request("POST", bearer(token("a", "y", std::string(kBase), 10min)) + session, rpc("1", "tools/list", ""))
          .status,
      200);
}

// OAU-10
TEST_F(IdentityTest, AStreamEndsWithItsToken) {
  rules({{}});
  RawClient listener(gateway_.port());
  listener.request("POST", modern_fields("subscriptions/listen") + bearer(token("a", "x")),
                   rpc("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta()));
  listener.read_event();
  clock_.advance(4min);
  gateway_.gateway.drop_unused_since(clock_.now() - 1h);
  EXPECT_EQ(gateway_.gateway.listeners().size(), 1U);
  clock_.advance(2min);
  gateway_.gateway.drop_unused_since(clock_.now() - 1h);
  while (listener.read_event()) {
  }
  wait_until([&] { return gateway_.gateway.listeners().size() == 0; });
}

// OAU-10: which notifications a session gets depends on the newest token of its client.
TEST_F(IdentityTest, AStreamOfASessionFollowsItsNewestToken) {
  rules({{.match = {{"groups", {"readers"}}}, .tools = {"up_read*"}}, {.match = {{"groups", {"writers"}}}}});
  server::LegacyClient client(gateway_.port(), "2025-11-25", "{}", bearer(token("a", "readers")));
  RawClient stream(gateway_.port());
  ASSERT_EQ(stream.request("GET", client.fields()).status, 200);
  client.every = bearer(token("a", "writers"));
  ASSERT_EQ(client.post(rpc("1", "tools/list", "")).status, 200);
  upstream_.add("write_more");
  gateway_.refresh("up");
  const auto event = stream.read_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->json().at("method"), "notifications/tools/list_changed");
}

}  // namespace
}  // namespace proteus::gateway
