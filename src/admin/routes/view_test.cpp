#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

// OBS-06, OBS-07: what a principal sees, and why.
namespace proteus::admin {
namespace {

using namespace test;
using ::testing::HasSubstr;

std::vector<std::string> names_in(const value& view) {
  std::vector<std::string> names;
  for (const auto& entry : view.at("entries").as_array())
    names.emplace_back(entry.at("name").as_string());
  return names;
}

class ViewRoutes : public ::testing::Test {
 protected:
  ViewRoutes() {
    for (const char* tool : {"read", "write", "delete"})
      if (!upstream.server.add_tool({.name = tool, .description = std::string("Does ") + tool}, says("done")))
        throw std::runtime_error("no tool");
    fixture.ask("POST", "/admin/upstreams", object{{"name", "files"}, {"url", upstream.url()}});
    wait_until([&] { return fixture.tools().size() == 4; });
    fixture.ask("POST", "/admin/tokens",
                object{{"name", "ci"}, {"tools", {"files_r*", "files_w*"}}, {"deny", {"files_write"}}});
  }
  value why(std::string_view query) { return fixture.ask("GET", fmt::format("/admin/why?{}", query)).json(); }
  void expect_why(std::string_view query, std::string_view visibility, std::string_view decided_by) {
    const value answer = why(query);
    EXPECT_EQ(answer.at("visibility").as_string(), visibility) << answer;
    EXPECT_EQ(answer.at("decided_by").as_string(), decided_by) << answer;
  }

  TestUpstream upstream;
  store::MemoryStore memory;
  AdminFixture fixture{memory};
};

TEST_F(ViewRoutes, OBS_07_ShowsTheListOfAPrincipal) {
  const value all = fixture.ask("GET", "/admin/view").json();
  EXPECT_EQ(all.at("total").as_int64(), 4);
  EXPECT_EQ(all.at("entries").at(0).at("upstream").as_string(), "files");
  EXPECT_EQ(names_in(fixture.ask("GET", "/admin/view?as=").json()), fixture.tools());
  EXPECT_EQ(names_in(fixture.ask("GET", "/admin/view?as=ci").json()), std::vector<std::string>{"files_read"});
  EXPECT_EQ(fixture.ask("GET", "/admin/view?as=nobody").status, 404);
  EXPECT_EQ(fixture.ask("GET", "/admin/view?context=none").status, 404);
  EXPECT_EQ(fixture.ask("GET", "/admin/view?kind=none").status, 400);
}

TEST_F(ViewRoutes, OBS_07_SearchesAndGivesParts) {
  EXPECT_EQ(names_in(fixture.ask("GET", "/admin/view?q=DOES+del").json()), std::vector<std::string>{"files_delete"});
  const value part = fixture.ask("GET", "/admin/view?offset=1&limit=2").json();
  EXPECT_EQ(part.at("total").as_int64(), 4);
  EXPECT_EQ(names_in(part), (std::vector<std::string>{"files_ping", "files_read"}));
}

TEST_F(ViewRoutes, OBS_06_SaysWhy) {
  const value seen = why("name=files_read&as=ci");
  EXPECT_EQ(seen.at("visibility").as_string(), "seen");
  EXPECT_EQ(seen.at("own_name").as_string(), "read");
  EXPECT_EQ(seen.at("parts").at(0).at("text").as_string(), "Does read");
  expect_why("name=files_write&as=ci", "not_seen", "denied");
  expect_why("name=files_none", "not_seen", "listed");
  expect_why("name=other", "not_seen", "configured");
  fixture.ask("PATCH", "/admin/upstreams/files", object{{"tools", {object{{"match", {"delete"}}, {"hidden", true}}}}});
  wait_until([&] { return fixture.tools().size() == 3; });
  expect_why("name=files_delete", "not_seen", "hidden");
  fixture.ask("PATCH", "/admin/upstreams/files", object{{"enabled", false}});
  expect_why("name=files_read", "not_seen", "enabled");
  EXPECT_EQ(fixture.ask("GET", "/admin/why?as=ci").status, 400);
}

TEST_F(ViewRoutes, OBS_06_OnlyALiveUpstreamKnows) {
  fixture.ask("PATCH", "/admin/upstreams/files", object{{"refresh_strategy", "direct_proxy"}});
  wait_until([&] { return fixture.ask("GET", "/admin/view").json().at("listed_live").as_array().size() == 1; });
  expect_why("name=files_read", "upstream_knows", "listed");
  expect_why("name=files_write&as=ci", "not_seen", "denied");
}

TEST_F(ViewRoutes, UIX_05_NamesThePrincipals) {
  const value all = fixture.ask("GET", "/admin/principals").json();
  EXPECT_EQ(all.at("principals").at(0).at("name").as_string(), "ci");
  EXPECT_TRUE(all.at("anonymous").as_bool());
}

}  // namespace
}  // namespace proteus::admin
