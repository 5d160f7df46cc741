#include <gmock/gmock.h>

#include "gateway/testing/routing_fixture.hpp"
#include "gateway/testing/test_gateway.hpp"

// OAU-08: if a call needs scopes that the caller's token lacks, it is refused in both eras before anything is sent.
namespace proteus::gateway {
namespace {

using catalog::Kind;
using server::LegacyClient;
using server::modern_fields;
using server::modern_meta;
using server::RawClient;
using server::rpc;
using test::bearer;
using test::ListingUpstream;
using test::TestGateway;
using test::upstream_at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kChallenge = R"(Bearer error="insufficient_scope", scope="delete read write")";

class ScopeRefusals : public ::testing::TestWithParam<bool> {
 protected:
  ScopeRefusals() {
    upstream.show(Kind::tool, "", {"delete_all", "get"});
    upstream.show(Kind::prompt, "", {"secret"});
    upstream.show(Kind::resource, "", {"test://a", "test://secret/a"});
    upstream.show(Kind::resource_template, "", {"test://secret/{x}"});
    auto settings = upstream_at("up", upstream.port());
    if (GetParam()) settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
    settings.tools = {{.match = {"delete_*", "prompt:secret", "resource:test://secret/*"}, .scopes = {"write"}},
                      {.match = {"*_all", "prompt:secret", "resource:test://secret/*"}, .scopes = {"delete"}}};
    gateway.emplace(std::vector{settings},
                    TestGateway::Setup{.principals = {{.name = "static", .token = Secret("s")}}});
    gateway->gateway.add_find_principal([this](std::string_view, const json::Digest& hash) { return find(hash); });
    gateway->discover();
  }

  // One subject with several tokens, which grant different scopes.
  std::shared_ptr<const Principal> find(const json::Digest& token) const {
    for (const auto& [text, granted] : tokens) {
      if (json::sha256(text) != token) continue;
      return std::make_shared<const Principal>(Principal::Parts{
          .name = "ada",
          .permissions = std::make_shared<const Permissions>(catalog::Access::all(), std::vector<std::string>{"*"}),
          .scopes = std::make_shared<const catalog::GrantedScopes>(
              granted, catalog::ImpliedScopes{{"admin", {"write", "delete"}}})});
    }
    return nullptr;
  }
  RawClient::Answer ask(std::string_view token, std::string_view method, std::string_view members,
                        std::string_view name = {}) {
    RawClient client(gateway->port());
    return client.request("POST", modern_fields(method, name) + bearer(token),
                          rpc("1", method, fmt::format("{},{}", members, modern_meta())));
  }
  RawClient::Answer call(std::string_view token, std::string_view tool) {
    return ask(token, "tools/call", fmt::format(R"("name":"{}","arguments":{{}})", tool), tool);
  }

  const std::map<std::string, std::vector<std::string>> tokens = {
      {"few", {"read", "offline_access"}}, {"some", {"write"}}, {"most", {"write", "delete"}}, {"admin", {"admin"}}};
  ListingUpstream upstream{"up"};
  std::optional<TestGateway> gateway;
};
INSTANTIATE_TEST_SUITE_P(Upstream, ScopeRefusals, ::testing::Bool(),
                         [](const auto& direct) { return std::string(direct.param ? "Live" : "Cached"); });

TEST_P(ScopeRefusals, NameAllThatIsNeededWithWhatWasGranted) {
  EXPECT_THAT(gateway->tools(bearer("few")), ElementsAre("up_delete_all", "up_get")) << "it is listed";
  const auto refused = call("few", "up_delete_all");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.field("www-authenticate"), kChallenge);
  EXPECT_EQ(refused.json().at("id"), 1);
  EXPECT_EQ(refused.json().at("error").at("data").at("scope"), "delete read write");
  EXPECT_EQ(call("some", "up_delete_all").field("www-authenticate"),
            R"(Bearer error="insufficient_scope", scope="delete write")");
  EXPECT_THAT(upstream.take_asked(), IsEmpty());
  for (const std::string_view token : {"most", "admin", "s"})
    EXPECT_EQ(call(token, "up_delete_all").status, 200) << token;
  EXPECT_EQ(upstream.take_asked().size(), 3U);
  EXPECT_EQ(call("few", "up_get").status, 200);
}

TEST_P(ScopeRefusals, AreForPromptsAndResourcesToo) {
  EXPECT_EQ(ask("few", "prompts/get", R"("name":"up_secret")", "up_secret").field("www-authenticate"), kChallenge);
  for (const std::string_view uri : {"test://secret/a", "test://secret/b", "test://x/../secret/a"}) {
    const auto answer = ask("few", "resources/read", fmt::format(R"("uri":"{}")", uri), uri);
    if (uri != "test://x/../secret/a" || GetParam()) EXPECT_EQ(answer.status, 403) << uri;
  }
  const auto completion = ask("few", "completion/complete",
                              R"("ref":{"type":"ref/prompt","name":"up_secret"},"argument":{"name":"x","value":""})");
  EXPECT_EQ(completion.status, 403);
  EXPECT_THAT(upstream.take_asked(), IsEmpty());
  EXPECT_EQ(ask("few", "resources/read", R"("uri":"test://a")", "test://a").status, 200);
}

TEST_P(ScopeRefusals, OfALegacySessionEndWithABetterToken) {
  LegacyClient client(gateway->port(), "2025-11-25", "{}", bearer("few"));
  const auto refused = client.call("1", "up_delete_all");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.field("www-authenticate"), kChallenge);
  EXPECT_EQ(refused.json().at("id"), 1);
  const auto subscribed = client.post(rpc("2", "resources/subscribe", R"("uri":"test://secret/a")"));
  EXPECT_THAT(subscribed.body, HasSubstr("error"));
  EXPECT_THAT(upstream.take_asked(), IsEmpty());
  // The same session and subject with another token.
  client.every = bearer("admin");
  EXPECT_EQ(client.call("3", "up_delete_all").status, 200);
  client.every = bearer("few");
  EXPECT_EQ(client.call("4", "up_delete_all").status, 403);
}

// A name that no cached list has needs no scope. What a live upstream has is not known, so the rules decide by name.
TEST_P(ScopeRefusals, AreByNameWhereAListIsNotKnown) {
  const auto unknown = call("few", "up_delete_nothing");
  EXPECT_EQ(unknown.status, GetParam() ? 403 : 200);
  EXPECT_EQ(unknown.field("www-authenticate").empty(), !GetParam());
}

}  // namespace
}  // namespace proteus::gateway
