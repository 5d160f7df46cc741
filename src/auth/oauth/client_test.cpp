#include "auth/oauth/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/testing/oauth_fixture.hpp"
#include "json/text.hpp"

namespace proteus::auth::oauth {
namespace {

using namespace proteus::auth::test;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Clock::Wall kNow{std::chrono::seconds(1'000'000)};

ClientDescription described() {
  return {.name = "Proteus", .redirect_uris = {"http://127.0.0.1/callback"}, .is_native = true};
}

// UPC-02
TEST(OAuthClient, RegisteredBeforehandComesFirst) {
  auto document = server_document();
  document["client_id_metadata_document_supported"] = true;
  ClientSources sources{.registered = Client{.issuer = kIssuer, .id = "mine", .secret = Secret("s")},
                        .document_url = "https://gateway.example/client.json",
                        .description = described()};
  EXPECT_EQ(choose_client(discovered(document), sources, kNow).value()->id, "mine");
  sources.registered.reset();
  const auto by_document = choose_client(discovered(document), sources, kNow).value();
  EXPECT_EQ(by_document->id, "https://gateway.example/client.json");
  EXPECT_EQ(by_document->issuer, kIssuer);
  EXPECT_EQ(choose_client(discovered(), sources, kNow).value(), std::nullopt) << "to be registered";
}

// UPC-02, UPC-18: a lying upstream cannot collect a secret
TEST(OAuthClient, IsNeverShownToAnotherIssuer) {
  const ClientSources secret{.registered = Client{.issuer = "https://honest.example", .id = "a", .secret = Secret("s")},
                             .description = described()};
  const auto refused = choose_client(discovered(), secret, kNow);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("another issuer"));
  const ClientSources unbound{.registered = Client{.issuer = "", .id = "a", .secret = Secret("s")}};
  EXPECT_FALSE(choose_client(discovered(), unbound, kNow)) << "a secret belongs to an issuer";
  const ClientSources open{.registered = Client{.issuer = "", .id = "a"}};
  EXPECT_EQ(choose_client(discovered(), open, kNow).value()->issuer, kIssuer);
}

// Migration by the specification: at a new issuer, the client is registered again and not reused.
TEST(OAuthClient, RegisteredDynamicallyIsNotTakenAlong) {
  ClientSources sources{.registered = Client{.issuer = kIssuer, .id = "a", .registered = Registered::dynamically},
                        .description = described()};
  EXPECT_EQ(choose_client(discovered(), sources, kNow).value()->id, "a");
  EXPECT_EQ(choose_client(discovered(server_document("https://new.example")), sources, kNow).value(), std::nullopt);
  sources.registered->expires = kNow;
  EXPECT_EQ(choose_client(discovered(), sources, kNow).value(), std::nullopt) << "its secret is over";
  sources.registered->expires.reset();
  sources.registered->redirect_uri = "http://127.0.0.1/other";
  EXPECT_EQ(choose_client(discovered(), sources, kNow).value(), std::nullopt) << "it has another redirect";
}

TEST(OAuthClient, NeedsSomeWay) {
  auto document = server_document();
  document.erase("registration_endpoint");
  const auto refused = choose_client(discovered(document), {.description = described()}, kNow);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("client_id"));
}

TEST(OAuthClient, RegistersItself) {
  const auto request = registration_request(discovered(), described());
  ASSERT_TRUE(request);
  EXPECT_EQ(request->url.text(), "https://id.example/register");
  const auto body = json::parse(request->body.reveal()).value().as_object();
  EXPECT_EQ(body.at("application_type"), "native");
  EXPECT_EQ(body.at("grant_types"), boost::json::value({"authorization_code", "refresh_token"}));
  EXPECT_EQ(body.at("token_endpoint_auth_method"), "none");
  const auto made = read_registration(answer({{"client_id", "c"},
                                              {"client_secret", "s"},
                                              {"token_endpoint_auth_method", "client_secret_post"},
                                              {"client_secret_expires_at", 1'000'060}},
                                             201),
                                      discovered(), described(), kNow);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->issuer, kIssuer);
  EXPECT_EQ(made->authentication, ClientAuthentication::secret_post);
  EXPECT_EQ(made->expires, kNow + 60s);
  EXPECT_EQ(made->redirect_uri, "http://127.0.0.1/callback");
}

TEST(OAuthClient, RefusesABadRegistration) {
  for (const auto& bad :
       {answer({}, 201), answer({{"client_id", 1}}, 201), answer({{"client_id", "c"}, {"client_secret", 1}}, 201),
        answer({{"client_id", "c"}, {"token_endpoint_auth_method", "tls_client_auth"}}, 201),
        answer({{"client_id", "c"}, {"client_secret_expires_at", "soon"}}, 201),
        answer({{"client_id", "c"}, {"client_secret_expires_at", 1}}, 201), answer({{"client_id", "c"}}, 403),
        answer({{"error", "invalid_redirect_uri"}}, 400), FetchAnswer{.status = 201, .body = "x"}}) {
    EXPECT_FALSE(read_registration(bad, discovered(), described(), kNow)) << bad.body;
  }
}

TEST(OAuthClient, AuthenticatesAsTheServerTakesIt) {
  const auto at = [](std::vector<std::string> methods, const Client& client) -> std::string {
    ServerMetadata server;
    server.token_endpoint_auth_methods = std::move(methods);
    const auto method = authentication_at(server, client);
    return method ? std::string(to_string(*method)) : "";
  };
  const Client secret{.issuer = kIssuer, .id = "c", .secret = Secret("s")};
  const Client key{.issuer = kIssuer, .id = "c", .key = PrivateKey::make()};
  const Client open{.issuer = kIssuer, .id = "c"};
  EXPECT_EQ(at({}, secret), "client_secret_basic");
  EXPECT_EQ(at({"client_secret_post", "client_secret_basic"}, secret), "client_secret_basic");
  EXPECT_EQ(at({"client_secret_post"}, secret), "client_secret_post");
  EXPECT_EQ(at({"none"}, secret), "none");
  EXPECT_EQ(at({"tls_client_auth"}, secret), "");
  EXPECT_EQ(at({}, key), "private_key_jwt");
  EXPECT_EQ(at({}, open), "none");
  EXPECT_EQ(at({}, {.issuer = kIssuer, .id = "c", .authentication = ClientAuthentication::secret_post}), "");
}

TEST(OAuthClient, IsDescribedByADocument) {
  const auto document =
      json::parse(write_client_document(described(), "https://gateway.example/c.json")).value().as_object();
  EXPECT_EQ(document.at("client_id"), "https://gateway.example/c.json");
  EXPECT_EQ(document.at("client_name"), "Proteus");
  EXPECT_EQ(document.at("redirect_uris").as_array().size(), 1U);
  EXPECT_EQ(document.at("token_endpoint_auth_method"), "none");
}

}  // namespace
}  // namespace proteus::auth::oauth
