#include "auth/tokens/metadata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/tokens/resource_metadata.hpp"

namespace proteus::auth {
namespace {

using testing::ElementsAre;

std::vector<std::string> places(std::string_view issuer) {
  std::vector<std::string> texts;
  for (const auto& url : metadata_urls(net::Url::parse(issuer).value()))
    texts.push_back(url.text());
  return texts;
}

// OAU-02: RFC 8414, sections 3.1 and 5, and OpenID Connect Discovery, section 4
TEST(ServerMetadata, AreSearchedInBothWellKnownForms) {
  for (const auto* const issuer : {"https://id.example", "https://id.example/"})
    EXPECT_THAT(places(issuer), ElementsAre("https://id.example/.well-known/oauth-authorization-server",
                                            "https://id.example/.well-known/openid-configuration"));
  EXPECT_THAT(places("https://id.example:8443/realms/acme/"),
              ElementsAre("https://id.example:8443/.well-known/oauth-authorization-server/realms/acme",
                          "https://id.example:8443/.well-known/openid-configuration/realms/acme",
                          "https://id.example:8443/realms/acme/.well-known/openid-configuration"));
}

TEST(ServerMetadata, AreNotSearchedAtAUrlThatWouldBeTooLong) {
  const std::string issuer = "https://id.example/";
  EXPECT_EQ(places(issuer + std::string(net::Url::kMaxBytes - issuer.size() - 35, 'a')).size(), 2U);
  EXPECT_TRUE(places(issuer + std::string(net::Url::kMaxBytes - issuer.size(), 'a')).empty());
}

constexpr std::string_view kDocument = R"({"issuer":"https://id.example","jwks_uri":"https://id.example/keys",
  "authorization_endpoint":"https://id.example/auth","token_endpoint":"https://id.example/token",
  "introspection_endpoint":"https://id.example/introspect","registration_endpoint":"https://id.example/register",
  "revocation_endpoint":"https://id.example/revoke","code_challenge_methods_supported":["S256"],
  "grant_types_supported":["authorization_code"],"token_endpoint_auth_methods_supported":["none"],
  "authorization_response_iss_parameter_supported":true,"client_id_metadata_document_supported":true,
  "dpop_signing_alg_values_supported":["ES256"],"scopes_supported":["tools"],"claims_supported":null,"other":{"x":[1]}})";

TEST(ServerMetadata, AreRead) {
  const auto metadata = read_server_metadata(kDocument, "https://id.example");
  ASSERT_TRUE(metadata) << metadata.error().message();
  EXPECT_EQ(metadata->jwks_uri, "https://id.example/keys");
  EXPECT_EQ(metadata->authorization_endpoint, "https://id.example/auth");
  EXPECT_EQ(metadata->token_endpoint, "https://id.example/token");
  EXPECT_EQ(metadata->introspection_endpoint, "https://id.example/introspect");
  EXPECT_EQ(metadata->registration_endpoint, "https://id.example/register");
  EXPECT_EQ(metadata->revocation_endpoint, "https://id.example/revoke");
  EXPECT_THAT(metadata->code_challenge_methods, ElementsAre("S256"));
  EXPECT_THAT(metadata->grant_types, ElementsAre("authorization_code"));
  EXPECT_THAT(metadata->token_endpoint_auth_methods, ElementsAre("none"));
  EXPECT_THAT(metadata->dpop_algorithms, ElementsAre("ES256"));
  EXPECT_TRUE(metadata->names_issuer_in_responses);
  EXPECT_TRUE(metadata->takes_client_metadata_documents);
}

// OAU-02: the issuer must be identical
TEST(ServerMetadata, OfAnotherIssuerAreRefused) {
  for (const auto* const issuer : {"https://id.example/", "https://ID.example", "https://other.example", ""})
    EXPECT_FALSE(read_server_metadata(kDocument, issuer)) << issuer;
  EXPECT_FALSE(read_server_metadata("{}", "https://id.example"));
  EXPECT_FALSE(read_server_metadata(R"({"issuer":["https://id.example"]})", "https://id.example"));
}

TEST(ServerMetadata, ThatAreUnsoundAreRefused) {
  const auto accepts = [](std::string_view members) {
    return read_server_metadata(R"({"issuer":"https://id.example",)" + std::string(members) + "}", "https://id.example")
        .has_value();
  };
  EXPECT_TRUE(accepts(R"("x":1)"));
  for (const auto* const members :
       {R"("jwks_uri":1)", R"("jwks_uri":"file:///etc/passwd")", R"("jwks_uri":"/keys")",
        R"("jwks_uri":"http://id.example/keys")", R"("issuer":"https://id.example")", R"("scopes_supported":"tools")",
        R"("scopes_supported":[1])", R"("token_endpoint":"https://u:p@id.example/")"})
    EXPECT_FALSE(accepts(members)) << members;
  std::string many = R"("scopes_supported":[)";
  for (int i = 0; i < 1001; ++i)
    many += i == 0 ? "\"s\"" : ",\"s\"";
  EXPECT_FALSE(accepts(many + "]"));
  EXPECT_FALSE(accepts(R"("x":)" + std::string(100, '[') + std::string(100, ']')));
  EXPECT_FALSE(accepts(R"("x":")" + std::string(ServerMetadata::kMaxBytes, 'x') + "\""));
  EXPECT_FALSE(read_server_metadata("", "https://id.example"));
}

// OAU-04
TEST(ResourceMetadata, AreTheSameBytesForTheSameResource) {
  const ResourceMetadata metadata = {.resource = "https://gateway.example/mcp",
                                     .authorization_servers = {"https://id.example"},
                                     .scopes = {"tools", "offline_access", "admin"},
                                     .name = "Gateway \"one\"",
                                     .dpop_algorithms = {"ES256"},
                                     .requires_dpop = true};
  const std::string text = write_resource_metadata(metadata);
  EXPECT_EQ(text, R"({"resource":"https://gateway.example/mcp","authorization_servers":["https://id.example"],)"
                  R"("scopes_supported":["tools","admin"],"bearer_methods_supported":["header"],)"
                  R"("resource_name":"Gateway \"one\"","dpop_signing_alg_values_supported":["ES256"],)"
                  R"("dpop_bound_access_tokens_required":true})");
  const auto read = read_resource_metadata(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(write_resource_metadata(*read), text);
  EXPECT_EQ(write_resource_metadata({.resource = "r"}), R"({"resource":"r","bearer_methods_supported":["header"]})");
}

TEST(ResourceMetadata, NeedTheirResource) {
  for (const auto* const text :
       {"{}", "[]", "", R"({"resource":1})", R"({"resource":"r","authorization_servers":"a"})"})
    EXPECT_FALSE(read_resource_metadata(text)) << text;
}

}  // namespace
}  // namespace proteus::auth
