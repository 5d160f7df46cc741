#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

// UIX-18: who gains and who loses what by a change, before it is made.
namespace proteus::admin {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PreviewRoutes : public ::testing::Test {
 protected:
  PreviewRoutes() {
    for (const char* tool : {"read", "write"}) {
      if (!upstream.server.add_tool({.name = tool, .description = "Does it"}, says("done")))
        throw std::runtime_error("no tool");
    }
    fixture.ask("POST", "/admin/upstreams", object{{"name", "files"}, {"url", upstream.url()}});
    wait_until([&] { return fixture.tools().size() == 3; });
    fixture.ask("POST", "/admin/tokens", object{{"name", "ci"}, {"tools", {"files_read", "files_look"}}});
  }
  value preview(const value& settings) {
    const Reply reply = fixture.ask("POST", "/admin/preview", object{{"upstream", "files"}, {"settings", settings}});
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json();
  }
  static std::vector<std::string> names(const value& preview, const value& as, const char* which) {
    std::vector<std::string> all;
    for (const auto& one : preview.at("affected").as_array()) {
      if (one.at("as") != as) continue;
      for (const auto& name : one.at(which).at("names").as_array())
        all.emplace_back(name.as_string());
    }
    return all;
  }

  TestUpstream upstream;
  store::MemoryStore memory;
  AdminFixture fixture{memory};
};

TEST_F(PreviewRoutes, UIX_18_APausedUpstreamIsLostByThoseWhoSeeIt) {
  const value paused = preview(object{{"enabled", false}});
  EXPECT_THAT(names(paused, nullptr, "loses"), ElementsAre("files_ping", "files_read", "files_write"));
  EXPECT_THAT(names(paused, "ci", "loses"), ElementsAre("files_read"));
  EXPECT_EQ(preview(nullptr).at("affected"), paused.at("affected"));
  EXPECT_EQ(fixture.tools().size(), 3U);
}

TEST_F(PreviewRoutes, UIX_18_ShapesArePreviewedAsTheyWouldBeServed) {
  const boost::json::array shapes = {object{{"match", {"write"}}, {"hidden", true}},
                                     object{{"match", {"ping"}}, {"rename", "look"}},
                                     object{{"match", {"read"}}, {"append", "Carefully."}}};
  const object patch{{"tools", shapes}};
  const value shaped = preview(patch);
  EXPECT_THAT(names(shaped, nullptr, "gains"), ElementsAre("files_look"));
  EXPECT_THAT(names(shaped, nullptr, "loses"), ElementsAre("files_ping", "files_write"));
  EXPECT_THAT(names(shaped, "ci", "gains"), ElementsAre("files_look"));
  EXPECT_THAT(names(shaped, "ci", "loses"), IsEmpty());
  EXPECT_THAT(names(shaped, "ci", "changes"), ElementsAre("files_read"));
  // The actual change has the same effect.
  fixture.ask("PATCH", "/admin/upstreams/files", patch);
  wait_until([&] { return fixture.tools() == std::vector<std::string>{"files_look", "files_read"}; });
  // Holds as soon as the upstream has been read with its new settings.
  wait_until([&] { return preview(patch).at("affected").as_array().empty(); });
}

TEST_F(PreviewRoutes, UIX_18_AnotherPrefixIsAnotherName) {
  const value renamed = preview(object{{"prefix", "f_"}});
  EXPECT_THAT(names(renamed, nullptr, "gains"), ElementsAre("f_ping", "f_read", "f_write"));
  EXPECT_THAT(names(renamed, "ci", "gains"), IsEmpty());
  EXPECT_THAT(names(renamed, "ci", "loses"), ElementsAre("files_read"));
}

TEST_F(PreviewRoutes, UIX_18_WhatIsListedLiveIsNotKnown) {
  const value live = preview(object{{"refresh_strategy", "direct_proxy"}});
  EXPECT_TRUE(live.at("becomes_live").as_bool());
  EXPECT_FALSE(live.at("unread").as_bool());
  fixture.ask("PATCH", "/admin/upstreams/files", object{{"refresh_strategy", "direct_proxy"}});
  EXPECT_TRUE(preview(object{{"refresh_strategy", "cached"}}).at("unread").as_bool());
}

TEST_F(PreviewRoutes, UIX_18_ANewTokenSeesWhatItsRulesSay) {
  const Reply reply =
      fixture.ask("POST", "/admin/preview", object{{"token", {{"name", "new"}, {"tools", {"files_w*", "files_p*"}}}}});
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(names(reply.json(), "new", "gains"), ElementsAre("files_ping", "files_write"));
  EXPECT_EQ(fixture.ask("GET", "/admin/tokens/new").status, 404);
}

TEST_F(PreviewRoutes, UIX_18_AProposalIsPreviewedAsIfItWereRatified) {
  fixture.ask("PATCH", "/admin/upstreams/files", object{{"trust", "pin"}});
  const auto proposals = [&] { return fixture.ask("GET", "/admin/proposals").json().at("proposals").as_array(); };
  wait_until([&] { return proposals().size() == 3; });
  for (const auto& one : proposals()) {
    const bool is_read = one.at("name").as_string() == "read";
    const Reply reply = fixture.ask("POST", "/admin/preview", object{{"proposal", one.at("id")}});
    EXPECT_EQ(reply.status, 200) << reply.body;
    const std::string shown = "files_" + std::string(one.at("name").as_string());
    EXPECT_THAT(names(reply.json(), nullptr, "gains"), ElementsAre(shown));
    EXPECT_EQ(names(reply.json(), "ci", "gains").size(), is_read ? 1U : 0U);
  }
  EXPECT_EQ(fixture.ask("POST", "/admin/preview", object{{"proposal", "none"}}).status, 404);
  EXPECT_EQ(proposals().size(), 3U);
}

TEST_F(PreviewRoutes, UIX_18_FaultsAreThoseOfTheChangeItself) {
  const auto status = [&](const value& body) { return fixture.ask("POST", "/admin/preview", body.as_object()).status; };
  EXPECT_EQ(status(object{{"upstream", "none"}, {"settings", nullptr}}), 404);
  EXPECT_EQ(status(object{{"upstream", "files"}, {"settings", {{"timeout", "soon"}}}}), 400);
  EXPECT_EQ(status(object{{"upstream", "files"}}), 400);
  EXPECT_EQ(status(object{{"token", {{"name", "x"}, {"tols", {"*"}}}}}), 400);
}

}  // namespace
}  // namespace proteus::admin
