#include "auth/oauth/discovery.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/testing/oauth_fixture.hpp"

namespace proteus::auth::oauth {
namespace {

using namespace proteus::auth::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kAtPath = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
constexpr std::string_view kAtRoot = "https://mcp.example/.well-known/oauth-protected-resource";
constexpr std::string_view kServerPlace = "https://id.example/.well-known/oauth-authorization-server";
constexpr std::string_view kOpenIdPlace = "https://id.example/.well-known/openid-configuration";

// UPC-01
class OAuthDiscovery : public testing::Test {
 protected:
  Result<Discovered> discover(std::string_view endpoint = kEndpoint, ChallengeHints hints = {},
                              std::string issuer = {}) {
    return run_on(table_, Discovery(url_of(endpoint), std::move(hints), std::move(issuer)));
  }
  std::string fault(std::string_view endpoint = kEndpoint, ChallengeHints hints = {}, std::string issuer = {}) {
    const auto found = discover(endpoint, std::move(hints), std::move(issuer));
    return found ? "" : found.error().message();
  }
  void serve() {
    table_.answer(kAtPath, answer(resource_document()));
    table_.answer(kServerPlace, answer(server_document()));
  }

  AnswerTable table_;
};

TEST_F(OAuthDiscovery, AsksTheChallengeAlone) {
  table_.answer("https://mcp.example/custom.json", answer(resource_document()));
  table_.answer(kServerPlace, answer(server_document()));
  const auto found = discover(kEndpoint, {.resource_metadata = "https://mcp.example/custom.json"});
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->resource, kEndpoint);
  EXPECT_EQ(found->issuer(), kIssuer);
  EXPECT_THAT(table_.requests, ElementsAre("GET https://mcp.example/custom.json", "GET " + std::string(kServerPlace)));
}

TEST_F(OAuthDiscovery, AsksThePathAndThenTheRoot) {
  table_.answer(kAtRoot, answer(resource_document("https://mcp.example")));
  table_.answer(kOpenIdPlace, answer(server_document()));
  const auto found = discover();
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->resource, "https://mcp.example");
  EXPECT_THAT(table_.requests, ElementsAre("GET " + std::string(kAtPath), "GET " + std::string(kAtRoot),
                                           "GET " + std::string(kServerPlace), "GET " + std::string(kOpenIdPlace)));
}

TEST_F(OAuthDiscovery, OfAServerAtTheRootAsksOnce) {
  table_.answer(kAtRoot, answer(resource_document("https://MCP.example/")));
  table_.answer(kServerPlace, answer(server_document()));
  const auto found = discover("https://mcp.example");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->resource, "https://MCP.example/") << "as the document spells it";
  EXPECT_EQ(table_.requests.size(), 2U);
}

TEST_F(OAuthDiscovery, RefusesADocumentAboutAnotherResource) {
  for (const auto* const resource :
       {"https://evil.example/mcp", "https://mcp.example", "https://mcp.example/", "https://mcp.example/mcp/",
        "https://mcp.example/mcp/deeper", "http://mcp.example/mcp", "https://mcp.example/mcp#x", "mcp.example/mcp"}) {
    table_.clear();
    table_.answer(kAtPath, answer(resource_document(resource)));
    table_.answer(kAtRoot, answer(resource_document("https://mcp.example")));
    EXPECT_THAT(fault(), HasSubstr("about another resource")) << resource;
    EXPECT_EQ(table_.requests.size(), 1U) << resource;
  }
  table_.clear();
  table_.answer(kAtRoot, answer(resource_document()));
  EXPECT_THAT(fault(), HasSubstr("about another resource")) << "the root stands for the origin";
}

TEST_F(OAuthDiscovery, TakesTheOriginWhereTheChallengeNamesTheRoot) {
  table_.answer(kAtRoot, answer(resource_document("https://mcp.example")));
  table_.answer(kServerPlace, answer(server_document()));
  EXPECT_EQ(fault(kEndpoint, {.resource_metadata = std::string(kAtRoot)}), "");
}

// UPC-18: the place of its metadata would be longer than a URL may be
TEST_F(OAuthDiscovery, RefusesAnIssuerWithAnEndlessUrl) {
  const std::string issuer = kIssuer + "/" + std::string(net::Url::kMaxBytes - kIssuer.size() - 1, 'a');
  table_.answer(kAtPath, answer(resource_document(kEndpoint, issuer)));
  EXPECT_THAT(fault(), HasSubstr("no metadata"));
  const std::string endpoint = "https://mcp.example/" + std::string(net::Url::kMaxBytes - 20, 'a');
  EXPECT_THAT(fault(endpoint), HasSubstr("404"));
  EXPECT_THAT(table_.requests.back(), "GET " + std::string(kAtRoot));
}

// UPC-18
TEST_F(OAuthDiscovery, RefusesMetadataOfAnotherIssuer) {
  for (const auto* const issuer : {"https://evil.example", "https://id.example/", "https://ID.example"}) {
    table_.clear();
    table_.answer(kAtPath, answer(resource_document()));
    auto document = server_document();
    document["issuer"] = issuer;
    table_.answer(kServerPlace, answer(document));
    EXPECT_THAT(fault(), HasSubstr("another issuer")) << issuer;
  }
}

// UPC-13, UPC-18
TEST_F(OAuthDiscovery, TakesOnlyHttpsButForLoopback) {
  EXPECT_THAT(fault("http://mcp.example/mcp"), HasSubstr("not https"));
  EXPECT_THAT(fault(kEndpoint, {.resource_metadata = "http://mcp.example/x"}), HasSubstr("not https"));
  EXPECT_THAT(fault(kEndpoint, {.resource_metadata = "file:///etc/passwd"}), HasSubstr("not an http"));
  EXPECT_THAT(table_.requests, IsEmpty());
  for (const auto* const issuer : {"http://id.example", "javascript:alert(1)", "https://id.example?x", "id"}) {
    table_.clear();
    table_.answer(kAtPath, answer(resource_document(kEndpoint, issuer)));
    EXPECT_NE(fault(), "") << issuer;
    EXPECT_EQ(table_.requests.size(), 1U) << issuer;
  }
}

// UPC-13, UPC-18: a server elsewhere must not make us send requests to this machine.
TEST_F(OAuthDiscovery, LeadsToThisMachineFromThisMachineOnly) {
  const std::string local = "http://127.0.0.1:9";
  EXPECT_THAT(fault(kEndpoint, {.resource_metadata = local + "/x"}), HasSubstr("leads to this machine"));
  EXPECT_THAT(table_.requests, IsEmpty());
  table_.answer(kAtPath, answer(resource_document(kEndpoint, local)));
  EXPECT_THAT(fault(), HasSubstr("leads to this machine"));
  EXPECT_EQ(table_.requests.size(), 1U);
  table_.clear();
  auto document = server_document();
  document["token_endpoint"] = "https://localhost/token";
  table_.answer(kAtPath, answer(resource_document()));
  table_.answer(kServerPlace, answer(document));
  EXPECT_THAT(fault(), HasSubstr("leads to this machine"));
  table_.clear();
  table_.answer(kAtPath, answer(resource_document(kEndpoint, local)));
  table_.answer(local + "/.well-known/oauth-authorization-server", answer(server_document(local)));
  EXPECT_EQ(fault(kEndpoint, {}, local), "") << "the operator has named it";
}

TEST_F(OAuthDiscovery, RefusesEndpointsThatLeadElsewhere) {
  const std::string issuer = "http://127.0.0.1:9";
  const std::string endpoint = "http://127.0.0.1:8/mcp";
  for (const auto* const name :
       {"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"}) {
    for (const auto* const url : {"javascript:alert(1)", "file:///x", "http://id.example/x"}) {
      table_.clear();
      auto document = server_document(issuer);
      document[name] = url;
      table_.answer("http://127.0.0.1:8/.well-known/oauth-protected-resource/mcp",
                    answer(resource_document(endpoint, issuer)));
      table_.answer(issuer + "/.well-known/oauth-authorization-server", answer(document));
      EXPECT_NE(fault(endpoint), "") << name << " " << url;
    }
  }
}

TEST_F(OAuthDiscovery, UsesTheConfiguredIssuerOrNone) {
  table_.answer(kAtPath,
                answer({{"resource", kEndpoint}, {"authorization_servers", {"https://other.example", kIssuer}}}));
  table_.answer(kServerPlace, answer(server_document()));
  EXPECT_EQ(fault(kEndpoint, {}, kIssuer), "");
  EXPECT_THAT(fault(kEndpoint, {}, "https://third.example"), HasSubstr("does not name the configured issuer"));
}

TEST_F(OAuthDiscovery, UsesTheConfiguredIssuerWhereTheResourceSaysNothing) {
  table_.answer(kServerPlace, answer(server_document()));
  const auto found = discover(kEndpoint, {}, kIssuer);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->resource, kEndpoint);
  EXPECT_EQ(table_.requests.size(), 3U);
}

TEST_F(OAuthDiscovery, EndsWhereTheServerCannotAnswer) {
  for (const auto& bad : {Result<FetchAnswer>(FetchAnswer{.status = 503}),
                          Result<FetchAnswer>(std::unexpected(errors::unreachable("no connection"))),
                          Result<FetchAnswer>(std::unexpected(errors::timeout("an answer")))}) {
    table_.clear();
    table_.answer(kAtPath, bad);
    EXPECT_NE(fault(), "");
    EXPECT_EQ(table_.requests.size(), 1U);
  }
}

TEST_F(OAuthDiscovery, PassesOverWhatIsNoDocument) {
  table_.answer(kAtPath, FetchAnswer{.status = 200, .body = "<html>"});
  table_.answer(kAtRoot, answer(resource_document("https://mcp.example")));
  table_.answer(kServerPlace, FetchAnswer{.status = 200, .body = "[]"});
  table_.answer(kOpenIdPlace, answer(server_document()));
  EXPECT_EQ(fault(), "");
  table_.clear();
  EXPECT_NE(fault(), "") << "nothing is there";
  EXPECT_EQ(table_.requests.size(), 2U);
}

// The strategy of the specification: the scopes of the challenge, else those of the resource.
TEST_F(OAuthDiscovery, ChoosesScopes) {
  auto resource = resource_document();
  resource["scopes_supported"] = {"a", "b"};
  auto server = server_document();
  server["scopes_supported"] = {"a", "offline_access"};
  table_.answer(kAtPath, answer(resource));
  table_.answer(kServerPlace, answer(server));
  const auto plain = discover();
  ASSERT_TRUE(plain);
  EXPECT_THAT(first_scopes(*plain, {}, Offline::no), ElementsAre("a", "b"));
  EXPECT_THAT(first_scopes(*plain, {}, Offline::yes), ElementsAre("a", "b", "offline_access"));
  const auto challenged = discover(kEndpoint, {.scopes = {"c"}});
  ASSERT_TRUE(challenged);
  EXPECT_THAT(first_scopes(*challenged, {}, Offline::no), ElementsAre("c"));
  EXPECT_THAT(first_scopes(*challenged, std::vector<std::string>{"d"}, Offline::no), ElementsAre("d"));
}

TEST(ChallengeHints, AreRead) {
  const auto hints = read_hints(
      R"(Basic realm="x", Bearer error="insufficient_scope", scope="a b a", resource_metadata="https://x.example/y")");
  EXPECT_EQ(hints.error, "insufficient_scope");
  EXPECT_EQ(hints.resource_metadata, "https://x.example/y");
  EXPECT_THAT(hints.scopes, ElementsAre("a", "b"));
  EXPECT_FALSE(hints.takes_dpop);
  const auto dpop = read_hints(R"(DPoP error="use_dpop_nonce", algs="ES256")");
  EXPECT_TRUE(dpop.takes_only_dpop);
  EXPECT_EQ(dpop.error, "use_dpop_nonce");
  EXPECT_FALSE(read_hints(R"(Bearer, DPoP algs="ES256")").takes_only_dpop);
  EXPECT_EQ(read_hints("").error, "");
}

// UPC-10
TEST(OAuthStepUp, AsksForTheUnionABoundedNumberOfTimes) {
  StepUp step(Scopes{"a"});
  EXPECT_EQ(step.widen(Scopes{"a"}), std::nullopt) << "nothing new";
  EXPECT_THAT(step.widen(Scopes{"b", "a"}), testing::Optional(ElementsAre("a", "b")));
  EXPECT_THAT(step.widen(Scopes{"c"}), testing::Optional(ElementsAre("a", "b", "c")));
  EXPECT_EQ(step.widen(Scopes{"d"}), std::nullopt) << "over the bound";
}

TEST(OAuthScopes, AreBoundedAndSound) {
  EXPECT_THAT(read_scopes("  a  b\x01 c\"  a "), ElementsAre("a"));
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += std::to_string(i) + " ";
  EXPECT_EQ(read_scopes(many).size(), kMaxScopes);
}

}  // namespace
}  // namespace proteus::auth::oauth
