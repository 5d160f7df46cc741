#include "providers/oauth_settings.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "providers/upstream_entry.hpp"

namespace proteus::providers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

EntryOrFaults with(std::string_view authentication) {
  return parse_upstream(
      boost::json::parse(fmt::format(R"({{"name": "files", "url": "https://files.example/mcp", "authentication": {}}})",
                                     authentication)),
      {});
}

std::vector<std::string> faults_with(std::string_view authentication) {
  std::vector<std::string> texts;
  const auto entry = with(authentication);
  if (entry) return texts;
  for (const auto& fault : entry.error())
    texts.push_back(fault.path + ": " + fault.message);
  return texts;
}

// UPC-01, UPC-04
TEST(OAuthSettings, NeedOneWordOnly) {
  const auto entry = with(R"({"type": "oauth"})");
  ASSERT_TRUE(entry);
  const Authentication& authentication = entry->settings.authentication;
  EXPECT_EQ(authentication.oauth.grant, OAuthGrant::authorization_code);
  EXPECT_EQ(authentication.oauth.effective_subject(), OAuthSubject::caller);
  EXPECT_TRUE(authentication.is_per_caller());
  EXPECT_FALSE(authentication.oauth.is_automatic());
}

// UPC-11
TEST(OAuthSettings, NameNoUserWhereTheGrantHasNone) {
  const auto entry = with(R"({"type": "oauth", "grant": "client_credentials", "issuer": "https://id.example",
                              "client_id": "proteus", "client_secret_env": "SECRET"})");
  ASSERT_TRUE(entry);
  EXPECT_FALSE(entry->settings.authentication.is_per_caller());
  EXPECT_THAT(faults_with(R"({"type": "oauth", "grant": "client_credentials", "issuer": "https://id.example",
                              "client_id": "proteus", "client_secret_env": "SECRET", "subject": "caller"})"),
              ElementsAre(HasSubstr("must be \"gateway\"")));
  EXPECT_THAT(faults_with(R"({"type": "oauth", "grant": "token_exchange", "issuer": "https://id.example",
                              "client_id": "proteus", "subject": "gateway"})"),
              ElementsAre(HasSubstr("must be \"caller\"")));
}

// UPC-02: a lying upstream cannot collect a secret.
TEST(OAuthSettings, BindASecretOrAKeyToAnIssuer) {
  EXPECT_THAT(faults_with(R"({"type": "oauth", "client_id": "proteus", "client_secret_env": "SECRET"})"),
              ElementsAre(HasSubstr("issuer is missing")));
  EXPECT_THAT(faults_with(R"({"type": "oauth", "client_id": "proteus", "client_key_file": "/keys/one.pem"})"),
              ElementsAre(HasSubstr("issuer is missing")));
  EXPECT_THAT(faults_with(R"({"type": "oauth", "issuer": "https://id.example", "client_secret_env": "SECRET"})"),
              ElementsAre(HasSubstr("client_id is missing")));
  EXPECT_THAT(faults_with(R"({"type": "oauth", "issuer": "https://id.example", "client_id": "proteus",
                              "client_secret_env": "SECRET", "client_key_file": "/keys/one.pem"})"),
              ElementsAre(HasSubstr("not both")));
}

// UPC-13
TEST(OAuthSettings, TakeAnIssuerByHttpOnThisMachineOnly) {
  EXPECT_THAT(faults_with(R"({"type": "oauth", "issuer": "http://id.example"})"), ElementsAre(HasSubstr("https")));
  EXPECT_THAT(faults_with(R"({"type": "oauth", "issuer": "javascript:alert"})"), Not(IsEmpty()));
  EXPECT_THAT(faults_with(R"({"type": "oauth", "issuer": "http://127.0.0.1:4000"})"), IsEmpty());
  EXPECT_THAT(faults_with(R"({"type": "oauth", "scopes": ["two words"]})"), ElementsAre(HasSubstr("scopes")));
}

TEST(OAuthSettings, BelongToTheirTypeAlone) {
  EXPECT_THAT(faults_with(R"({"type": "bearer", "token_env": "T", "client_id": "proteus"})"),
              ElementsAre(HasSubstr("belongs to type \"oauth\"")));
  const auto bearer = with(R"({"type": "bearer", "token_env": "T"})");
  ASSERT_TRUE(bearer);
  EXPECT_EQ(write_upstream(*bearer).at("authentication"), boost::json::parse(R"({"type":"bearer","token_env":"T"})"));
}

// SEC-02: the API accepts secrets, and never shows them again.
TEST(OAuthSettings, HideTheirSecrets) {
  const auto entry = with(R"({"type": "oauth", "issuer": "https://id.example", "client_id": "proteus",
                              "client_secret": "hunter2"})");
  ASSERT_TRUE(entry);
  EXPECT_THAT(boost::json::serialize(write_upstream(*entry)), Not(HasSubstr("hunter2")));
  EXPECT_THAT(boost::json::serialize(write_upstream_secrets(*entry)), HasSubstr("hunter2"));
  const auto restored = restore_upstream(write_upstream(*entry), write_upstream_secrets(*entry), {});
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->settings, entry->settings);
}

// UPC-11: two upstreams at one URL may ask for different scopes.
TEST(OAuthSettings, ShareNoTokenThatWasObtainedForOtherScopes) {
  UpstreamSettings settings;
  settings.url = "https://files.example/mcp";
  settings.authentication.type = Authentication::Type::oauth;
  UpstreamSettings other = settings;
  other.authentication.oauth.scopes = {"write"};
  EXPECT_EQ(oauth_target(settings), oauth_target(other)) << "a person stays connected";
  EXPECT_EQ(oauth_target(settings), "https://files.example/mcp\nauthorization_code\n\n") << "the store has it";
  for (auto* each : {&settings, &other})
    each->authentication.oauth.grant = OAuthGrant::client_credentials;
  EXPECT_NE(oauth_target(settings), oauth_target(other));
}

}  // namespace
}  // namespace proteus::providers
