#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

// UIX-06: a token for five minutes with the rules of a principal, but without anything that is kept for the principal.
namespace proteus::admin {
namespace {

using namespace test;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

class TryRoutes : public ::testing::Test {
 protected:
  TryRoutes() {
    for (const char* tool : {"read", "write"}) {
      if (!upstream.server.add_tool({.name = tool, .description = "Does it"}, says("done")))
        throw std::runtime_error("no tool");
    }
    fixture.ask("POST", "/admin/upstreams", object{{"name", "files"}, {"url", upstream.url()}});
    wait_until([&] { return fixture.tools().size() == 3; });
    fixture.ask("POST", "/admin/tokens", object{{"name", "ci"}, {"tools", {"files_read"}}});
  }
  // Makes a token, and returns its Authorization field.
  std::string try_as(const value& as) {
    const Reply made = fixture.ask("POST", "/admin/try", object{{"as", as}});
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_THAT(made.head, HasSubstr("no-store"));
    return fmt::format("Authorization: Bearer {}\r\n", std::string_view(made.json().at("token").as_string()));
  }
  server::RawClient::Answer call(const std::string& token, std::string_view name) {
    server::RawClient client(fixture.server.local_port());
    return client.request(
        "POST", server::modern_fields("tools/call", name) + token,
        server::rpc("1", "tools/call", fmt::format(R"("name":"{}",{})", name, server::modern_meta("{}", ""))));
  }

  TestUpstream upstream;
  store::MemoryStore memory;
  AdminFixture fixture{memory};
};

TEST_F(TryRoutes, UIX_06_HasTheRulesOfThePrincipalAndIsAudited) {
  const std::string ci = try_as("ci");
  EXPECT_THAT(call(ci, "files_read").body, HasSubstr("done"));
  EXPECT_THAT(call(ci, "files_write").body, HasSubstr("error"));
  EXPECT_THAT(call(try_as(nullptr), "files_write").body, HasSubstr("done"));
  const value audit = fixture.ask("GET", "/admin/audit").json().at("audit");
  EXPECT_EQ(audit.at(0).at("what").as_string(), "token.try");
  EXPECT_EQ(audit.at(1).at("detail").at("as").as_string(), "ci");
  EXPECT_EQ(audit.at(1).at("who").as_string(), "admin");
}

TEST_F(TryRoutes, UIX_06_IsSomebodyElseThanThePrincipal) {
  const std::string token = try_as("ci");
  const auto holder = fixture.gateway.holder_of(std::string_view(token).substr(22, token.size() - 24));
  ASSERT_NE(holder, nullptr);
  const auto ci = fixture.gateway.access()->find_name("ci");
  EXPECT_NE(holder->key(), ci->key());
  EXPECT_NE(holder->lasting_key(), ci->lasting_key());
  EXPECT_EQ(holder->name(), "admin tries as ci");
}

// Behind a balancer, requests with the token reach other processes than the one that issued it.
TEST_F(TryRoutes, UIX_06_WorksAtEveryProcessThatSharesThePepper) {
  AdminFixture other{memory};
  wait_until([&] { return other.tools().size() == 3; });
  const std::string token = try_as(nullptr);
  const auto call_there = [&](const std::string& with) {
    server::RawClient client(other.server.local_port());
    return client.request(
        "POST", server::modern_fields("tools/call", "files_write") + with,
        server::rpc("1", "tools/call", fmt::format(R"("name":"files_write",{})", server::modern_meta("{}", ""))));
  };
  EXPECT_THAT(call_there(token).body, HasSubstr("done"));
  EXPECT_THAT(call(token, "files_write").body, HasSubstr("done"));
  std::string altered = token;
  altered[60] = altered[60] == 'A' ? 'B' : 'A';
  EXPECT_EQ(call_there(altered).status, 401);
  other.clock.skip(5min);
  EXPECT_EQ(call_there(token).status, 401);
}

TEST_F(TryRoutes, UIX_06_EndsAfterFiveMinutes) {
  const std::string token = try_as("ci");
  fixture.clock.skip(4min);
  EXPECT_EQ(call(token, "files_read").status, 200);
  fixture.clock.skip(61s);
  EXPECT_EQ(call(token, "files_read").status, 401);
  fixture.try_tokens.end_expired(fixture.clock.wall());
  EXPECT_EQ(call(token, "files_read").status, 401);
}

TEST_F(TryRoutes, UIX_06_RefusesWhatItCannotBe) {
  EXPECT_EQ(fixture.ask("POST", "/admin/try", object{{"as", "nobody"}}).status, 404);
  EXPECT_EQ(fixture.ask("POST", "/admin/try", object{{"as", 1}}).status, 400);
  EXPECT_EQ(fixture.ask("POST", "/admin/try", object{{"as", "ci"}, {"for", "1h"}}).status, 400);
  EXPECT_EQ(fixture.ask("POST", "/admin/try", object{{"as", std::string(5000, 'x')}}).status, 400);
  EXPECT_EQ(fixture.ask("POST", "/admin/try", "[]").status, 400);
  EXPECT_EQ(fixture.send("POST", "/admin/try", "{}", fmt::format("X-Admin-Secret: {}\r\n", kViewerSecret)).status, 403);
}

}  // namespace
}  // namespace proteus::admin
