#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

namespace proteus::admin {
namespace {

using boost::json::object;
using boost::json::value;
using test::AdminFixture;
using test::TestUpstream;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Proposals : public ::testing::Test {
 protected:
  Proposals() : fixture(store) {
    fixture.ask("POST", "/admin/upstreams", {{"name", "bank"}, {"url", upstream.url()}, {"trust", "pin"}});
    fixture.refresh("bank");
  }

  value waiting() { return fixture.ask("GET", "/admin/proposals").json().at("proposals"); }
  std::string path(std::string_view how) {
    return fmt::format("/admin/proposals/{}/{}", std::string_view(waiting().at(0).at("id").as_string()), how);
  }

  store::MemoryStore store{{}};
  TestUpstream upstream;
  AdminFixture fixture;
};

// PIN-05, SEC-08
TEST_F(Proposals, AreShownRatifiedAndAudited) {
  EXPECT_THAT(fixture.tools(), IsEmpty());
  EXPECT_EQ(fixture.get("bank").at("pins").at("proposals"), 1);
  const value proposal = waiting().at(0);
  EXPECT_EQ(proposal.at("upstream"), "bank");
  EXPECT_EQ(proposal.at("kind"), "tools");
  EXPECT_EQ(proposal.at("name"), "ping");
  EXPECT_EQ(proposal.at("change"), "new");
  EXPECT_EQ(proposal.at("proposed").at("name"), "ping");
  EXPECT_THAT(std::string(proposal.at("diff").as_string()), HasSubstr("+ name: \"ping\""));
  const auto ratified = fixture.ask("POST", path("ratify"), {{"by", "ada"}});
  EXPECT_EQ(ratified.status, 200);
  EXPECT_EQ(ratified.json().at("status"), "ratified");
  EXPECT_THAT(fixture.tools(), ElementsAre("bank_ping"));
  EXPECT_THAT(waiting().as_array(), IsEmpty());
  EXPECT_EQ(fixture.get("bank").at("pins").at("ratified"), 1);
  const value audit = fixture.ask("GET", "/admin/audit?limit=1").json().at("audit").at(0);
  EXPECT_EQ(audit.at("what"), "pin.ratify");
  EXPECT_EQ(audit.at("who"), "admin");
  EXPECT_EQ(audit.at("detail").at("by"), "ada");
  EXPECT_EQ(audit.at("detail").at("sha256"), proposal.at("sha256"));
}

// PIN-05
TEST_F(Proposals, AreRejectedAndNotProposedAgain) {
  const auto rejected = fixture.ask("POST", path("reject"));
  EXPECT_EQ(rejected.json().at("by"), "admin") << "the key, where nobody is named";
  fixture.refresh("bank");
  EXPECT_THAT(waiting().as_array(), IsEmpty());
  EXPECT_THAT(fixture.tools(), IsEmpty());
  EXPECT_EQ(fixture.get("bank").at("pins").at("rejected"), 1);
}

TEST_F(Proposals, RefuseWhatIsNotADecision) {
  EXPECT_EQ(fixture.ask("POST", "/admin/proposals/pin-0/ratify").status, 404);
  EXPECT_EQ(fixture.ask("POST", path("ratify"), {{"by", 1}}).status, 400);
  EXPECT_EQ(fixture.ask("POST", path("ratify"), {{"by", ""}}).status, 400);
  EXPECT_EQ(fixture.ask("POST", path("ratify"), {{"buy", "ada"}}).status, 400);
  EXPECT_EQ(fixture.ask("POST", path("ratify"), "[").status, 400);
  EXPECT_EQ(fixture.send("POST", path("ratify"), {}, {}).status, 401);
  EXPECT_EQ(fixture.ask("GET", "/admin/proposals?upstream=other").json().at("proposals").as_array().size(), 0U);
  EXPECT_EQ(waiting().as_array().size(), 1U);
}

// SEC-03: an upstream may propose much more than anybody wants to read at once.
TEST_F(Proposals, OfLongListsAreReadOneByOne) {
  const std::string long_text(900'000, 'x');
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    ASSERT_TRUE(upstream.server.add_tool({.name = name, .description = long_text}, test::says("long")));
  fixture.refresh("bank");
  const value all = waiting();
  ASSERT_EQ(all.as_array().size(), 7U);
  std::size_t shortened = 0;
  for (const auto& one : all.as_array()) {
    const value whole =
        fixture.ask("GET", fmt::format("/admin/proposals/{}", std::string_view(one.at("id").as_string()))).json();
    EXPECT_EQ(whole.at("sha256"), one.at("sha256"));
    EXPECT_EQ(whole.at("proposed").at("name"), one.at("name"));
    if (one.as_object().contains("proposed")) continue;
    ++shortened;
    EXPECT_GT(one.at("bytes").to_number<std::size_t>(), long_text.size());
    EXPECT_FALSE(one.as_object().contains("diff"));
  }
  EXPECT_EQ(shortened, 2U);
  EXPECT_EQ(fixture.ask("GET", "/admin/proposals/pin-0").status, 404);
}

}  // namespace
}  // namespace proteus::admin
