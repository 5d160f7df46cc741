#include "auth/oauth/authorization.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/testing/oauth_fixture.hpp"

namespace proteus::auth::oauth {
namespace {

using namespace proteus::auth::test;
using testing::HasSubstr;

const Client kOpenClient{.issuer = kIssuer, .id = "client"};
const AuthorizationSettings kSettings{.redirect_uri = "http://127.0.0.1:7/callback", .scopes = {"a", "b"}};

std::string in_query(const std::string& url, std::string_view name) {
  return std::string(find_in(read_form(url.substr(url.find('?') + 1)).value(), name));
}

// UPC-03
TEST(OAuthAuthorization, UrlHasPkceStateAndResource) {
  const auto request = begin_authorization(discovered(), kOpenClient, kSettings);
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_THAT(request->url, testing::StartsWith("https://id.example/authorize?response_type=code&"));
  EXPECT_EQ(in_query(request->url, "client_id"), "client");
  EXPECT_EQ(in_query(request->url, "redirect_uri"), kSettings.redirect_uri);
  EXPECT_EQ(in_query(request->url, "scope"), "a b");
  EXPECT_EQ(in_query(request->url, "resource"), kEndpoint);
  EXPECT_EQ(in_query(request->url, "code_challenge_method"), "S256");
  EXPECT_EQ(in_query(request->url, "code_challenge"), code_challenge(request->verifier.reveal()));
  EXPECT_EQ(in_query(request->url, "state"), request->state);
  EXPECT_EQ(request->state.size(), 43U);
  EXPECT_EQ(request->verifier.reveal().size(), 43U);
  EXPECT_EQ(request->issuer, kIssuer);
  EXPECT_NE(request->state, begin_authorization(discovered(), kOpenClient, kSettings)->state);
}

TEST(OAuthAuthorization, ChallengeIsThatOfRfc7636) {
  EXPECT_EQ(code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST(OAuthAuthorization, KeepsTheQueryOfTheEndpoint) {
  auto document = server_document();
  document["authorization_endpoint"] = "https://id.example/authorize?tenant=1";
  const auto request = begin_authorization(discovered(document), kOpenClient, kSettings);
  EXPECT_THAT(request->url, HasSubstr("authorize?tenant=1&response_type=code"));
}

// UPC-03, UPC-18
TEST(OAuthAuthorization, NeedsS256AndAPlaceForABrowser) {
  for (const auto& methods : {boost::json::array{}, boost::json::array{"plain"}, boost::json::array{"s256"}}) {
    auto document = server_document();
    document["code_challenge_methods_supported"] = methods;
    EXPECT_FALSE(begin_authorization(discovered(document), kOpenClient, kSettings));
  }
  auto document = server_document();
  document.erase("authorization_endpoint");
  EXPECT_FALSE(begin_authorization(discovered(document), kOpenClient, kSettings));
  for (const auto* const url :
       {"javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "http://id.example/a"}) {
    Discovered lying = discovered();
    lying.server.authorization_endpoint = url;
    EXPECT_FALSE(begin_authorization(lying, kOpenClient, kSettings)) << url;
  }
  EXPECT_FALSE(begin_authorization(discovered(), {.issuer = "https://other.example", .id = "c"}, kSettings));
}

struct IssuerCase {
  const char* what;
  bool advertised;
  std::optional<std::string> sent;
  bool is_good;
};

// UPC-03: the four cases of RFC 9207, without normalization
TEST(OAuthCallback, IsOfTheServerThatWasAsked) {
  const std::vector<IssuerCase> cases = {
      {"advertised and right", true, kIssuer, true},
      {"advertised and missing", true, std::nullopt, false},
      {"advertised and wrong", true, "https://evil.example", false},
      {"advertised and empty", true, "", false},
      {"not advertised and right", false, kIssuer, true},
      {"not advertised and missing", false, std::nullopt, true},
      {"not advertised and wrong", false, "https://evil.example", false},
      {"not advertised and empty", false, "", false},
      {"with a slash", true, kIssuer + "/", false},
      {"in another case", true, "https://ID.example", false},
      {"with the default port", true, "https://id.example:443", false},
      {"percent-encoded", true, "https://%69d.example", false},
  };
  for (const auto& [what, advertised, sent, is_good] : cases) {
    auto document = server_document();
    document["authorization_response_iss_parameter_supported"] = advertised;
    const auto request = begin_authorization(discovered(document), kOpenClient, kSettings).value();
    std::string query = "code=abc&state=" + request.state;
    if (sent) query += "&iss=" + form_encoded(*sent);
    const auto code = judge_callback(read_callback(query).value(), request);
    EXPECT_EQ(code.has_value(), is_good) << what;
    if (is_good) {
      EXPECT_EQ(code->reveal(), "abc");
      continue;
    }
    // An error from another server is not reported, either.
    const auto error =
        judge_callback(read_callback("error=access_denied&error_description=look&state=" + request.state +
                                     (sent ? "&iss=" + form_encoded(*sent) : ""))
                           .value(),
                       request);
    EXPECT_THAT(error.error().message(), testing::Not(HasSubstr("look"))) << what;
  }
}

TEST(OAuthCallback, AnswersOneRequest) {
  const auto request = begin_authorization(discovered(), kOpenClient, kSettings).value();
  const auto judge = [&](const std::string& query) -> std::string {
    const auto callback = read_callback(query);
    if (!callback) return "unreadable";
    const auto code = judge_callback(*callback, request);
    return code ? "code" : std::string(to_string(code.error().kind()));
  };
  EXPECT_EQ(judge("?code=a&state=" + request.state), "code");
  EXPECT_EQ(judge("code=a&state=" + request.state + "x"), "forbidden");
  EXPECT_EQ(judge("code=a"), "forbidden");
  EXPECT_EQ(judge("code=a&state="), "forbidden");
  EXPECT_EQ(judge("state=" + request.state), "protocol");
  EXPECT_EQ(judge("error=access_denied&state=" + request.state), "forbidden");
  EXPECT_EQ(judge("error=temporarily_unavailable&state=" + request.state), "unavailable");
  EXPECT_EQ(judge("code=a&code=b&state=" + request.state), "unreadable");
  EXPECT_EQ(judge("code=%zz&state=" + request.state), "unreadable");
  EXPECT_EQ(judge("code=" + std::string(9000, 'a') + "&state=" + request.state), "unreadable");
}

}  // namespace
}  // namespace proteus::auth::oauth
