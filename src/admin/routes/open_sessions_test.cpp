#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

// UIX-09: shows what callers have open, and ends it.
namespace proteus::admin {
namespace {

using namespace test;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class OpenSessions : public ::testing::Test {
 protected:
  value open() { return fixture.ask("GET", "/admin/sessions").json(); }
  std::string initialize(server::RawClient& client) {
    const auto hello = client.request(
        "POST", "",
        server::rpc(
            "0", "initialize",
            R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"editor","version":"1"})"));
    return hello.field("mcp-session-id");
  }

  store::MemoryStore memory;
  AdminFixture fixture{memory};
};

TEST_F(OpenSessions, UIX_09_ShowsAndEndsASessionOfALegacyClient) {
  server::RawClient client(fixture.server.local_port());
  const std::string id = initialize(client);
  const value all = open().at("client_sessions");
  ASSERT_EQ(all.at("total").as_int64(), 1);
  const value& session = all.at("newest").at(0);
  EXPECT_EQ(session.at("client").as_string(), "editor");
  EXPECT_EQ(session.at("protocol_version").as_string(), "2025-11-25");
  EXPECT_TRUE(session.at("principal").is_null());
  EXPECT_THAT(boost::json::serialize(all), Not(HasSubstr(id)));
  const std::string handle(session.at("id").as_string());
  EXPECT_EQ(fixture.ask("DELETE", "/admin/sessions/" + handle).status, 200);
  EXPECT_EQ(fixture.ask("DELETE", "/admin/sessions/" + handle).status, 404);
  EXPECT_EQ(open().at("client_sessions").at("total").as_int64(), 0);
  const auto after = client.request("POST", fmt::format("Mcp-Session-Id: {}\r\n", id), server::rpc("1", "ping", ""));
  EXPECT_EQ(after.status, 404);
  const value audit = fixture.ask("GET", "/admin/audit").json().at("audit").at(0);
  EXPECT_EQ(audit.at("what").as_string(), "session.end");
  EXPECT_EQ(audit.at("detail").at("id").as_string(), handle);
}

TEST_F(OpenSessions, UIX_09_ShowsAndEndsAStream) {
  server::RawClient client(fixture.server.local_port());
  client.request("POST", server::modern_fields("subscriptions/listen"),
                 server::rpc("1", "subscriptions/listen",
                             fmt::format(R"("notifications":{{"toolsListChanged":true}},{})", server::modern_meta())));
  wait_until([&] { return open().at("streams").at("total").as_int64() == 1; });
  const value stream = open().at("streams").at("newest").at(0);
  EXPECT_EQ(stream.at("hears_of"), boost::json::array{"tools"});
  EXPECT_EQ(fixture.ask("DELETE", "/admin/sessions/" + std::string(stream.at("id").as_string())).status, 200);
  wait_until([&] { return open().at("streams").at("total").as_int64() == 0; });
}

TEST_F(OpenSessions, UIX_09_ShowsToolSessions) {
  fixture.ask("POST", "/admin/session/init", object{{"session_id", "s1"}, {"user_token", "tok"}, {"user_id", 7}});
  const value session = open().at("tool_sessions").at("newest").at(0);
  EXPECT_EQ(session.at("session_id").as_string(), "s1");
  EXPECT_EQ(session.at("user_id").as_int64(), 7);
  EXPECT_EQ(session.at("tools").as_int64(), 0);
}

TEST_F(OpenSessions, UIX_09_KnowsOnlyWhatIsThere) {
  for (const char* id : {"client-0", "stream-1", "stream-", "stream-x", "call-1", "call--1", "x"})
    EXPECT_EQ(fixture.ask("DELETE", std::string("/admin/sessions/") + id).status, 404) << id;
  EXPECT_EQ(fixture.ask("GET", "/admin/sessions?limit=0").status, 400);
  EXPECT_EQ(
      fixture.send("DELETE", "/admin/sessions/x", "", fmt::format("X-Admin-Secret: {}\r\n", kViewerSecret)).status,
      403);
}

}  // namespace
}  // namespace proteus::admin
