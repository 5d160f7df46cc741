// UPC-04, UPC-14: operators begin, see and end connections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

namespace proteus::admin {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

class ConnectionRoutes : public ::testing::Test {
 protected:
  ConnectionRoutes() {
    for (const char* subject : {"caller", "gateway"}) {
      fixture.ask("POST", "/admin/upstreams",
                  object{{"name", subject},
                         {"url", "http://127.0.0.1:1/mcp"},
                         {"authentication", object{{"type", "oauth"}, {"subject", subject}}}});
    }
  }
  Reply begin(std::string_view upstream) {
    return fixture.ask("POST", "/admin/connections", object{{"upstream", upstream}});
  }
  gateway::GrantPointer put(gateway::GrantOwner owner) {
    gateway::Grant grant{.owner = std::move(owner), .owner_name = "Ada", .target = gateway::GrantTarget("notes")};
    grant.upstream = "notes";
    grant.server.issuer = "https://as.example";
    grant.client = {.issuer = "https://as.example", .id = "us", .registered = auth::oauth::Registered::dynamically};
    grant.tokens.access_token = Secret("the-access-token");
    grant.tokens.refresh_token = Secret("the-refresh-token");
    grant.tokens.scopes = {"read"};
    return fixture.run(fixture.gateway.vault().put(std::move(grant), "Ada")).value();
  }

  store::MemoryStore store;
  AdminFixture fixture{store};
};

TEST_F(ConnectionRoutes, BeginOneForTheGatewayItself) {
  EXPECT_EQ(begin("caller").status, 201) << "to list it to everybody";
  const auto reply = begin("gateway");
  EXPECT_EQ(reply.status, 201) << reply.body;
  EXPECT_THAT(reply.head, HasSubstr("Cache-Control: no-store"));
  const std::string url(reply.json().at("url").as_string());
  const auto page = fixture.send("GET", url.substr(url.find("/connect/")), "", "");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("Admin key"));
}

TEST_F(ConnectionRoutes, BeginNoneWhereNobodySignsIn) {
  fixture.ask("POST", "/admin/upstreams", object{{"name", "open"}, {"url", "http://127.0.0.1:1/mcp"}});
  EXPECT_EQ(begin("open").status, 409);
  EXPECT_EQ(begin("none").status, 404);
  EXPECT_EQ(fixture.ask("POST", "/admin/connections", object{}).status, 400);
  EXPECT_EQ(fixture.ask("POST", "/admin/connections", object{{"upstream", "gateway"}, {"more", 1}}).status, 400);
  const auto viewer = fixture.send("POST", "/admin/connections", R"({"upstream":"gateway"})",
                                   fmt::format("X-Admin-Secret: {}\r\n", kViewerSecret));
  EXPECT_EQ(viewer.status, 403);
}

TEST_F(ConnectionRoutes, ShowThemWithoutTokensAndEndThem) {
  const auto grant = put(gateway::GrantOwner("https://id.example\nada"));
  const auto listed = fixture.ask("GET", "/admin/connections");
  EXPECT_THAT(listed.body, Not(HasSubstr("-token")));
  const value one = listed.json().at("connections").at(0);
  EXPECT_EQ(one.at("id").as_string(), grant->id);
  EXPECT_EQ(one.at("subject"), "caller");
  EXPECT_EQ(one.at("principal"), "Ada");
  EXPECT_EQ(one.at("issuer"), "https://as.example");
  EXPECT_EQ(one.at("state"), "connected");
  EXPECT_EQ(one.at("scopes").at(0), "read");
  const auto ended = fixture.ask("DELETE", "/admin/connections/" + grant->id);
  EXPECT_EQ(ended.status, 200);
  EXPECT_EQ(ended.json().at("state"), "disconnected");
  EXPECT_EQ(ended.json().at("revoked"), false);
  EXPECT_EQ(fixture.ask("DELETE", "/admin/connections/" + grant->id).status, 404);
  EXPECT_EQ(fixture.ask("GET", "/admin/connections").json().at("connections").as_array().size(), 0U);
}

}  // namespace
}  // namespace proteus::admin
