// Tokens and secrets in a configuration: where they come from, and what tokens may name.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/read_config.hpp"
#include "app/testing/config_support.hpp"

namespace proteus::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Config, TakesMasterSecretsFromTheEnvironmentOnly) {
  const auto config = read("", {{"PROTEUS_PEPPER", "p"}, {"PROTEUS_ADMIN_SECRET", "s"}}).config.value();
  EXPECT_EQ(config.secrets.pepper->reveal(), "p");
  EXPECT_EQ(config.secrets.admin_secret->reveal(), "s");
  EXPECT_FALSE(config.secrets.previous_pepper);
  EXPECT_THAT(read("", {{"PROTEUS_PEPPER", ""}}).said, ElementsAre("PROTEUS_PEPPER: is set, but empty"));
}

TEST(Config, NeedsTheTokensToServeAndOnlyWarnsInACheck) {
  constexpr std::string_view kToml = "[[auth.tokens]]\nname = \"a\"\ntoken_env = \"A\"\n";
  EXPECT_THAT(read(kToml).said,
              ElementsAre("proteus.toml:3:1: auth.tokens[0].token_env: the environment variable A is not set"));
  EXPECT_FALSE(read(kToml).config);
  const auto checked = read(kToml, {}, {}, Purpose::check);
  EXPECT_TRUE(checked.config);
  EXPECT_THAT(checked.said, ElementsAre("proteus.toml:3:1: warning: auth.tokens[0].token_env: the environment variable "
                                        "A is not set"));
  const std::string twice = std::string(kToml) + "[[auth.tokens]]\nname = \"b\"\ntoken_env = \"B\"\n";
  EXPECT_THAT(read(twice, {{"A", "same"}, {"B", "same"}}).said,
              ElementsAre("proteus.toml:6:1: auth.tokens[1].token_env: holds the same secret as that of "
                          "auth.tokens[0]"));
}

// OPS-14
TEST(Config, ATokenNamesContextsAndUpstreamsThatThereAre) {
  constexpr std::string_view kToml = R"([[upstreams]]
name = "banking"
url = "http://127.0.0.1:1/mcp"
[contexts.abc]
display_name = "ABC"
[[auth.tokens]]
name = "a"
token_env = "A"
contexts = ["", "abc", "acb"]
upstreams = ["banking", "bankin", "datasets"]
)";
  const auto [config, said] = read(kToml, {{"A", "x"}});
  EXPECT_FALSE(config);
  EXPECT_THAT(said,
              ElementsAre("proteus.toml:9:24: auth.tokens[0].contexts[2]: there is no context acb; did you mean abc?",
                          "proteus.toml:10:25: warning: auth.tokens[0].upstreams[1]: there is no upstream bankin; "
                          "it must be registered at runtime; did you mean banking?"));
  // A broken context is left out, which is not a fault of the token.
  const auto broken = read("[[auth.tokens]]\nname = \"a\"\ntoken_env = \"A\"\ncontexts = [\"odd\"]\n", {{"A", "x"}}, {},
                           Purpose::serve, {{"contexts/odd.toml", "="}});
  EXPECT_TRUE(broken.config);
}

// OAU-07
TEST(Config, ATokenSaysWhichEntriesItMayUse) {
  constexpr std::string_view kToml = R"([[auth.tokens]]
name = "a"
token_env = "A"
tools = ["get_*", "prompt:x*", "resource:file:///a b/*"]
deny = ["get_secret"]
read_only = true
requests_per_minute = 60
)";
  const auto [config, said] = read(kToml, {{"A", "x"}});
  EXPECT_THAT(said, IsEmpty());
  ASSERT_TRUE(config);
  const TokenSettings& token = config->auth.tokens.at(0);
  EXPECT_THAT(token.tools, ElementsAre("get_*", "prompt:x*", "resource:file:///a b/*"));
  EXPECT_THAT(token.deny, ElementsAre("get_secret"));
  EXPECT_TRUE(token.read_only);
  EXPECT_EQ(token.requests_per_minute, 60U);
  const auto wrong = read(
      "[[auth.tokens]]\nname = \"a\"\ntoken_env = \"A\"\ntools = [\"x\", \"prompts:x\"]\ndeny = [\"prompt:\"]\n"
      "requests_per_minute = -1\n",
      {{"A", "x"}});
  EXPECT_FALSE(wrong.config);
  EXPECT_THAT(wrong.said, ElementsAre(StartsWith("proteus.toml:4:15: auth.tokens[0].tools[1]: fits no tool"),
                                      StartsWith("proteus.toml:5:9: auth.tokens[0].deny[0]: is an empty pattern"),
                                      StartsWith("proteus.toml:6:1: auth.tokens[0].requests_per_minute: ")));
}

// SEC-01: an upstream that knows a secret of Proteus could impersonate it.
TEST(Config, GivesNoUpstreamASecretOfOurs) {
  const auto outcome = read(R"(
[admin]
environment = ["FINE", "PROTEUS_ADMIN_SECRET"]
[[admin.keys]]
name = "ops"
secret_env = "OPS_SECRET"
[[auth.tokens]]
name = "ci"
token_env = "CI_TOKEN"
[defaults.upstream]
pass_environment = ["PROTEUS_PEPPER_PREVIOUS"]
[[upstreams]]
name = "a"
url = "http://a.invalid/"
authentication = { type = "bearer", token_env = "PROTEUS_PEPPER" }
[[upstreams]]
name = "b"
url = "http://b.invalid/"
authentication = { type = "header", name = "X-Key", value_env = "CI_TOKEN" }
[[upstreams]]
name = "c"
command = ["c"]
pass_environment = ["FINE", "OPS_SECRET"]
[[upstreams]]
name = "d"
url = "http://d.invalid/"
authentication = { type = "basic", username = "u", password_env = "D_PASSWORD" }
)",
                            {}, {}, Purpose::check);
  EXPECT_FALSE(outcome.config);
  std::vector<std::string> ours;
  for (const std::string& said : outcome.said) {
    if (said.contains("is a secret of Proteus itself")) ours.push_back(said);
  }
  EXPECT_THAT(ours, ElementsAre(HasSubstr("admin.environment[1]"), HasSubstr("defaults.upstream.pass_environment[0]"),
                                HasSubstr("upstreams[0].authentication.token_env"),
                                HasSubstr("upstreams[1].authentication.value_env"),
                                HasSubstr("upstreams[2].pass_environment[1]")));
}

TEST(Config, LetsTwoIssuersHaveTheSameClientSecret) {
  const auto outcome = read(R"(
[server]
public_url = "https://gateway.example"
[[auth.issuers]]
issuer = "https://id.example"
sign_in = { client_id = "a", client_secret_env = "SIGN_IN" }
[[auth.issuers]]
issuer = "https://other.example"
sign_in = { client_id = "a", client_secret_env = "SIGN_IN" }
[[auth.rules]]
[[upstreams]]
name = "a"
url = "https://a.invalid/"
authentication = { type = "oauth", grant = "client_credentials", issuer = "https://other.example", client_id = "a", client_secret_env = "SIGN_IN" }
)",
                            {}, {}, Purpose::check);
  EXPECT_TRUE(outcome.config);
}

TEST(Config, LetsNoUpstreamHaveTheSecretOfAClientOfAnIssuer) {
  const auto outcome = read(R"(
[admin]
environment = ["SIGN_IN"]
[server]
public_url = "https://gateway.example"
[[auth.issuers]]
issuer = "https://id.example"
introspection = { client_id = "a", client_secret_env = "INTROSPECTION" }
sign_in = { client_id = "a", client_secret_env = "SIGN_IN" }
[[auth.rules]]
[[upstreams]]
name = "a"
url = "https://a.invalid/"
authentication = { type = "bearer", token_env = "INTROSPECTION" }
[[upstreams]]
name = "b"
url = "https://b.invalid/"
authentication = { type = "oauth", grant = "token_exchange", issuer = "https://id.example", client_id = "a", client_secret_env = "SIGN_IN" }
[[upstreams]]
name = "c"
url = "https://c.invalid/"
authentication = { type = "oauth", grant = "client_credentials", issuer = "https://other.example", client_id = "a", client_secret_env = "SIGN_IN" }
)",
                            {}, {}, Purpose::check);
  std::vector<std::string> ours;
  for (const std::string& said : outcome.said) {
    if (said.contains("is a secret of Proteus itself")) ours.push_back(said);
  }
  EXPECT_THAT(ours, ElementsAre(HasSubstr("admin.environment[0]"), HasSubstr("upstreams[0].authentication.token_env"),
                                HasSubstr("upstreams[2].authentication.client_secret_env")));
}

// REP-01
TEST(Config, SharesAStoreWhereTheFileSaysSo) {
  const auto [config, said] =
      read("[cluster]\nname = \"a\"", {{"PROTEUS_STORE", "postgresql://db/proteus"}, {"PROTEUS_PEPPER", "p"}});
  EXPECT_THAT(said, IsEmpty());
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->cluster.enabled);
  EXPECT_EQ(config->cluster.name, "a");
  EXPECT_EQ(config->cluster.store.reveal(), "postgresql://db/proteus");
  EXPECT_FALSE(read("", {{"PROTEUS_STORE", "postgresql://db/proteus"}}).config->cluster.enabled);
  const auto bare = read("[cluster]\nstore_env = \"DATABASE\"");
  EXPECT_FALSE(bare.config);
  EXPECT_THAT(bare.said,
              ElementsAre(::testing::HasSubstr("PROTEUS_PEPPER"), ::testing::HasSubstr("DATABASE is not set")));
}

// REP-13
TEST(Config, KeepsWhatIsLiveInARedisWhereThereIsOne) {
  const std::map<std::string, std::string> with = {
      {"PROTEUS_STORE", "postgresql://db/proteus"}, {"PROTEUS_PEPPER", "p"}, {"PROTEUS_REDIS", "redis://:word@cache"}};
  const auto [config, said] = read("[cluster]", with);
  EXPECT_THAT(said, IsEmpty());
  EXPECT_EQ(config->cluster.redis.reveal(), "redis://:word@cache");
  EXPECT_TRUE(read("", with).config->cluster.redis.empty());

  auto without = with;
  without.erase("PROTEUS_REDIS");
  EXPECT_TRUE(read("[cluster]", without).config->cluster.redis.empty());
  EXPECT_THAT(read("[cluster]\nredis_env = \"CACHE\"", without).said, ElementsAre(HasSubstr("CACHE is not set")));

  without["CACHE"] = "redis-sentinel://:word@a,b/mymaster";
  const auto sentinel = read("[cluster]\nredis_env = \"CACHE\"", without);
  EXPECT_THAT(sentinel.said, ElementsAre(HasSubstr("CACHE: the Redis URL names a Sentinel")));
  EXPECT_THAT(sentinel.said, ElementsAre(::testing::Not(HasSubstr("word"))));
  without["CACHE"] = "rediss://cache?sslrootcert=/nowhere/ca.pem";
  EXPECT_THAT(read("[cluster]\nredis_env = \"CACHE\"", without).said,
              ElementsAre(HasSubstr("there is no file /nowhere/ca.pem")));
}

}  // namespace
}  // namespace proteus::app
