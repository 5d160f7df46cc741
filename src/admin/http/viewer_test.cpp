#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

namespace proteus::admin {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Viewer : public ::testing::Test {
 protected:
  Reply look(std::string_view method, std::string_view path, std::string_view body = {}) {
    return fixture.send(method, path, body, fmt::format("X-Admin-Secret: {}\r\n", kViewerSecret));
  }

  store::MemoryStore memory;
  AdminFixture fixture{memory};
};

// OAU-13
TEST_F(Viewer, MayLookAndChangesNothing) {
  for (const auto& route : fixture.ask("GET", "/admin").json().at("routes").as_array()) {
    std::string path(route.at("path").as_string());
    for (const char* variable : {"{name}", "{id}"}) {
      if (const auto at = path.find(variable); at != std::string::npos) path.replace(at, std::strlen(variable), "x");
    }
    const std::string method(route.at("method").as_string());
    const auto answer = look(method, path, method == "GET" ? "" : R"({"name":"x"})");
    if (!route.at("changes_state").as_bool()) {
      EXPECT_NE(answer.status, 403) << path;
      EXPECT_NE(answer.status, 401) << path;
    } else {
      EXPECT_EQ(answer.status, 403) << method << " " << path;
      EXPECT_THAT(answer.head, HasSubstr("application/problem+json"));
      EXPECT_THAT(answer.body, HasSubstr("may only look"));
    }
  }
  EXPECT_EQ(look("PUT", "/admin/upstreams").status, 403);
  EXPECT_EQ(look("POST", "/admin/nothing").status, 403);
  EXPECT_EQ(look("GET", "/admin/nothing").status, 404);
  EXPECT_THAT(fixture.ask("GET", "/admin/audit").json().at("audit").as_array(), IsEmpty());
  EXPECT_THAT(fixture.ask("GET", "/admin/tokens").json().at("tokens").as_array(), IsEmpty());
}

// SEC-08, OAU-13
TEST_F(Viewer, IsShownNoSecret) {
  const std::string upstream_secret = "hunter2-of-an-upstream";
  fixture.ask("POST", "/admin/upstreams",
              object{{"name", "bank"},
                     {"url", "http://127.0.0.1:9/mcp"},
                     {"authentication", {{"type", "bearer"}, {"token", upstream_secret}}}});
  const value made = fixture.ask("POST", "/admin/tokens", object{{"name", "ci"}}).json();
  const std::string token(made.at("token").as_string());
  fixture.ask("POST", "/admin/session/init",
              object{{"session_id", "s"}, {"user_token", "token-of-a-session"}, {"user_id", 7}});
  for (const char* path : {"/admin/upstreams", "/admin/upstreams/bank", "/admin/tokens", "/admin/tokens/ci",
                           "/admin/audit", "/admin/changes", "/admin/contexts", "/admin/proposals",
                           "/admin/catalog/tools", "/admin/tools/list?session_id=s"}) {
    const auto answer = look("GET", path);
    EXPECT_EQ(answer.status, 200) << path;
    for (const std::string& secret : {upstream_secret, token, std::string("token-of-a-session"), std::string(kSecret)})
      EXPECT_THAT(answer.body, Not(HasSubstr(secret))) << path;
  }
}

}  // namespace
}  // namespace proteus::admin
