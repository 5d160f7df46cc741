// Upstreams over the admin API: registered, changed and removed while the gateway runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"
#include "store/testing/full_store.hpp"
#include "store/testing/sqlite_fixture.hpp"

namespace proteus::admin {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class Upstreams : public ::testing::Test {
 protected:
  object bank(std::string_view name = "bank") const { return {{"name", name}, {"url", upstream.url()}}; }

  TestUpstream upstream;
  store::MemoryStore memory;
  AdminFixture fixture{memory};
};

// PRX-17 SES-25
TEST_F(Upstreams, AreCreatedReadChangedAndRemoved) {
  const std::string body = boost::json::serialize(bank());
  const auto created = fixture.send("POST", "/admin/upstreams", body,
                                    fmt::format("X-Admin-Secret: {}\r\nContent-Type: text/plain\r\n", kSecret));
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_THAT(created.head, HasSubstr("Location: /admin/upstreams/bank"));
  EXPECT_EQ(created.json().at("origin"), "runtime");
  EXPECT_EQ(created.json().at("refresh_strategy"), "cached");
  EXPECT_EQ(created.json().at("id").as_string().size(), 32U);

  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  EXPECT_THAT(fixture.tools(), ElementsAre("bank_ping"));
  EXPECT_THAT(fixture.call("bank_ping").body, HasSubstr("pong"));
  const auto shown = fixture.get("bank");
  EXPECT_EQ(shown.at("state"), "connected");
  EXPECT_EQ(shown.at("era"), "modern");
  EXPECT_EQ(shown.at("configured_era"), "auto");
  EXPECT_EQ(shown.at("protocol_version"), "2026-07-28");
  EXPECT_EQ(shown.at("circuit"), "closed");
  EXPECT_EQ(shown.at("tools"), 1);
  EXPECT_EQ(shown.at("last_error"), nullptr);

  const auto patched = fixture.ask("PATCH", "/admin/upstreams/bank", {{"prefix", "b_"}, {"auto_refresh_interval", 60}});
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(patched.json().at("prefix"), "b_");
  EXPECT_EQ(patched.json().at("auto_refresh"), true);
  EXPECT_EQ(patched.json().at("refresh_interval"), "1m");
  EXPECT_EQ(patched.json().at("id"), created.json().at("id"));
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true) << fixture.get("bank");
  EXPECT_THAT(fixture.tools(), ElementsAre("b_ping"));

  EXPECT_EQ(fixture.ask("GET", "/admin/upstreams").json().at("upstreams").as_array().size(), 1U);
  EXPECT_EQ(fixture.ask("DELETE", "/admin/upstreams/bank").status, 200);
  EXPECT_THAT(fixture.tools(), IsEmpty());
  EXPECT_EQ(fixture.ask("GET", "/admin/upstreams/bank").status, 404);
  EXPECT_EQ(fixture.ask("DELETE", "/admin/upstreams/bank").status, 404);
  EXPECT_EQ(fixture.ask("PATCH", "/admin/upstreams/bank", object{}).status, 404);
  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams/bank/refresh").status, 404);
}

// PRX-22
TEST_F(Upstreams, MayHaveANameForPeople) {
  object people = bank();
  people["display_name"] = "Dynamic Banking – 銀行";
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", people).status, 201);
  EXPECT_EQ(fixture.get("bank").at("display_name"), "Dynamic Banking – 銀行");
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  const auto tool = fixture.ask("GET", "/admin/catalog/tools").json().at("tools").at(0);
  EXPECT_EQ(tool.at("upstream"), "bank");
  EXPECT_EQ(tool.at("upstream_display_name"), "Dynamic Banking – 銀行");
  const auto refused = fixture.ask("POST", "/admin/upstreams", {{"name", "Dynamic Banking"}, {"url", upstream.url()}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("what people call it goes into display_name"));
}

TEST_F(Upstreams, AreRefusedWithEveryFaultAndNothingIsRegistered) {
  const auto refused =
      fixture.ask("POST", "/admin/upstreams", {{"name", "a/b"}, {"url", "ftp://x"}, {"colour", 1}, {"ttl", "-1s"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.head, HasSubstr("application/problem+json"));
  EXPECT_EQ(refused.json().at("status"), 400);
  EXPECT_THAT(refused.json().at("type").as_string().c_str(), HasSubstr("invalid"));
  std::vector<std::string> pointers;
  for (const auto& fault : refused.json().at("errors").as_array())
    pointers.emplace_back(fault.at("pointer").as_string());
  EXPECT_THAT(pointers, UnorderedElementsAre("/name", "/url", "/colour", "/ttl"));

  for (const auto* wrong : {"", "{", "[]", "7", R"({"name":"a","name":"b","url":"http://127.0.0.1/"})"})
    EXPECT_EQ(fixture.ask("POST", "/admin/upstreams", std::string_view(wrong)).status, 400) << wrong;
  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams", std::string(1000, '[') + std::string(1000, ']')).status, 400);
  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams", std::string(AdminRequest::kMaxBody + 1, ' ')).status, 413);
  EXPECT_THAT(fixture.ask("GET", "/admin/upstreams").json().at("upstreams").as_array(), IsEmpty());

  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", bank()).status, 201);
  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams", bank()).status, 409);
  EXPECT_EQ(fixture.ask("PATCH", "/admin/upstreams/bank", {{"name", "other"}}).status, 400);
  EXPECT_EQ(fixture.ask("PATCH", "/admin/upstreams/bank", {{"refresh_strategy", "sometimes"}}).status, 400);
}

TEST_F(Upstreams, MustBeWhereTheEgressRulesAllow) {
  const auto refused = fixture.ask("POST", "/admin/upstreams", {{"name", "inside"}, {"url", "http://10.0.0.1/mcp"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.json().at("errors").at(0).at("pointer"), "/url");
  EXPECT_THAT(refused.body, HasSubstr("private"));
  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams", {{"name", "six"}, {"url", "http://[::ffff:0:10.0.0.1]/"}}).status,
            400);
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", bank()).status, 201);
  EXPECT_EQ(fixture.ask("PATCH", "/admin/upstreams/bank", {{"url", "http://169.254.169.254/"}}).status, 400);
  EXPECT_EQ(fixture.get("bank").at("url"), value(upstream.url()));
}

TEST(Egress, HoldsForEachConnectionAndTrustsTheFile) {
  gateway::Egress egress({});
  const auto filter = egress.filter();
  const auto inside = boost::asio::ip::make_address("10.0.0.1");
  const auto allows = [&](std::string_view url) { return filter(net::Url::parse(url).value(), inside).has_value(); };
  EXPECT_FALSE(allows("http://tools.internal:8080/mcp"));
  egress.trust({"http://tools.internal:8080"});
  EXPECT_TRUE(allows("http://tools.internal:8080/mcp"));
  EXPECT_TRUE(egress.check(net::Url::parse("http://tools.internal:8080/other").value()));
  EXPECT_FALSE(allows("http://other.internal:8080/mcp"));
  EXPECT_FALSE(allows("http://tools.internal:22/")) << "another port is another service";
  EXPECT_FALSE(allows("https://tools.internal/"));
  egress.set_rules({.allow_private = true});
  EXPECT_TRUE(allows("http://other.internal:8080/mcp"));
}

// REF-08 REF-09
TEST_F(Upstreams, SayWhatARefreshChanged) {
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", bank()).status, 201);
  fixture.refresh("bank");
  ASSERT_TRUE(upstream.server.add_tool({.name = "more"}, says("more")));
  ASSERT_TRUE(upstream.server.add_tool(
      {.name = "ping",
       .input_schema = {{"type", "object"}, {"required", {"who"}}, {"properties", {{"who", object{}}}}}},
      says("pong")));
  // An announced change may have been read before this refresh; it is logged all the same.
  value changed;
  wait_until([&] {
    fixture.refresh("bank");
    const auto page = fixture.ask("GET", "/admin/changes?since=1").json();
    if (page.at("changes").as_array().empty()) return false;
    changed = page.at("changes").as_array().back();
    return fixture.tools() == std::vector<std::string>{"bank_more", "bank_ping"};
  });
  EXPECT_THAT(boost::json::serialize(fixture.ask("GET", "/admin/changes?since=1").json()),
              HasSubstr(R"({"name":"bank_ping","breaking":true)"));

  const auto last_good = fixture.get("bank").at("last_refresh_at");
  upstream.server.stop();
  const auto failed = fixture.refresh("bank");
  EXPECT_EQ(failed.at("ok"), false);
  EXPECT_FALSE(failed.at("error").as_string().empty());
  EXPECT_THAT(failed.at("tools").at("added").as_array(), IsEmpty());
  EXPECT_EQ(fixture.get("bank").at("last_refresh_at"), last_good);
  EXPECT_NE(fixture.get("bank").at("state"), "connected");
  EXPECT_THAT(fixture.tools(), ElementsAre("bank_more", "bank_ping"));
}

TEST_F(Upstreams, ShowNamesThatOthersWin) {
  object first = bank("first");
  first["prefix"] = "";
  object second = bank("second");
  second["prefix"] = "";
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", first).status, 201);
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", second).status, 201);
  fixture.refresh("first");
  fixture.refresh("second");
  const auto shadowed = fixture.get("second").at("shadowed");
  ASSERT_EQ(shadowed.as_array().size(), 1U);
  EXPECT_EQ(shadowed.at(0), (value{{"kind", "tool"}, {"name", "ping"}, {"by", "first"}}));
  EXPECT_THAT(fixture.get("first").at("shadowed").as_array(), IsEmpty());
}

// PRX-18
TEST_F(Upstreams, ShowHowNamesWereMadePortable) {
  ASSERT_TRUE(upstream.server.add_tool({.name = "v1.ping"}, says("pong")));
  object portable = bank();
  portable["names"] = "portable";
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", portable).status, 201);
  fixture.refresh("bank");
  const auto mapped = fixture.get("bank").at("mapped_names");
  ASSERT_EQ(mapped.as_array().size(), 1U);
  EXPECT_EQ(mapped.at(0).at("own"), "v1.ping");
}

// OPS-08
TEST(UpstreamsOnAFullDisk, StayAsTheyAre) {
  TestUpstream upstream;
  store::test::FullStore store;
  AdminFixture fixture(store);
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", {{"name", "bank"}, {"url", upstream.url()}}).status, 201);
  fixture.refresh("bank");
  store.full = true;
  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams", {{"name", "other"}, {"url", upstream.url()}}).status, 503);
  EXPECT_EQ(fixture.ask("PATCH", "/admin/upstreams/bank", {{"prefix", "b_"}}).status, 503);
  EXPECT_EQ(fixture.ask("DELETE", "/admin/upstreams/bank").status, 503);
  EXPECT_EQ(fixture.get("bank").at("prefix"), "bank_");
  EXPECT_EQ(fixture.ask("GET", "/admin/upstreams/other").status, 404);
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  EXPECT_THAT(fixture.tools(), ElementsAre("bank_ping"));
}

class UpstreamsAfterARestart : public ::testing::Test {
 protected:
  UpstreamsAfterARestart() { disk.reopen(); }

  store::test::SqliteFixture disk;
};

// PRX-17
TEST_F(UpstreamsAfterARestart, AreThereAgainWithTheirSecrets) {
  TestUpstream upstream("hunter2");
  value created;
  {
    AdminFixture fixture(disk.store());
    created = fixture
                  .ask("POST", "/admin/upstreams",
                       {{"name", "bank"},
                        {"url", upstream.url()},
                        {"authentication", {{"type", "bearer"}, {"token", "hunter2"}}}})
                  .json();
    EXPECT_THAT(boost::json::serialize(created), Not(HasSubstr("hunter2")));
    EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  }
  disk.reopen();
  AdminFixture fixture(disk.store());
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  EXPECT_EQ(fixture.get("bank").at("id"), created.at("id"));
  EXPECT_EQ(fixture.get("bank").at("created_at"), created.at("created_at"));
  EXPECT_EQ(fixture.get("bank").at("origin"), "runtime");
  EXPECT_THAT(fixture.call("bank_ping").body, HasSubstr("pong"));
  EXPECT_THAT(boost::json::serialize(fixture.ask("GET", "/admin/upstreams").json()), Not(HasSubstr("hunter2")));
  EXPECT_THAT(fixture.ask("GET", "/admin/audit").body, Not(HasSubstr("hunter2")));
  EXPECT_EQ(fixture.ask("DELETE", "/admin/upstreams/bank").status, 200);
  EXPECT_THAT(
      boost::asio::co_spawn(fixture.workers.at(0), disk.store().snapshots(), boost::asio::use_future).get().value(),
      IsEmpty());
}

// PRX-12
TEST_F(UpstreamsAfterARestart, OfTheFileKeepTheirOverrideUntilTheFileChanges) {
  TestUpstream upstream;
  // Of one era, so that no probe for a legacy side is counted.
  const auto from_file = entry({{"name", "bank"}, {"url", upstream.url()}, {"era", "modern"}});
  {
    AdminFixture fixture(disk.store(), {{from_file}, {}});
    fixture.refresh("bank");
    EXPECT_EQ(fixture.get("bank").at("origin"), "file");
    fixture.tools();
    const int before = upstream.requests;
    EXPECT_THAT(fixture.tools(), ElementsAre("bank_ping"));
    EXPECT_EQ(upstream.requests, before) << "a cached list asks nobody";

    const auto patched = fixture.ask("PATCH", "/admin/upstreams/bank", {{"refresh_strategy", "direct_proxy"}});
    ASSERT_EQ(patched.status, 200) << patched.body;
    EXPECT_EQ(patched.json().at("origin"), "override");
    EXPECT_EQ(patched.json().at("overrides"), (value{"refresh_strategy"}));
    EXPECT_THAT(fixture.tools(), ElementsAre("bank_ping"));
    EXPECT_GT(upstream.requests, before) << "the next list is the upstream's own";
    wait_until([&] { return fixture.metrics.render().contains(R"(proteus_list_changed_total{kind="tools"} 2)"); });

    const auto refused = fixture.ask("DELETE", "/admin/upstreams/bank");
    EXPECT_EQ(refused.status, 409);
    EXPECT_THAT(refused.body, HasSubstr("configuration file"));
  }
  disk.reopen();
  {
    AdminFixture fixture(disk.store(), {{from_file}, {}});
    EXPECT_EQ(fixture.get("bank").at("origin"), "override");
    EXPECT_EQ(fixture.get("bank").at("refresh_strategy"), "direct_proxy");
  }
  disk.reopen();
  {
    const auto other = entry({{"name", "bank"}, {"url", upstream.url()}, {"era", "modern"}, {"timeout", "7s"}});
    AdminFixture fixture(disk.store(), {{other}, {}});
    EXPECT_EQ(fixture.get("bank").at("origin"), "file");
    EXPECT_EQ(fixture.get("bank").at("refresh_strategy"), "cached");
    EXPECT_THAT(fixture.ask("GET", "/admin/audit?limit=1").body, HasSubstr("upstream.override_dropped"));
  }
  disk.reopen();
  AdminFixture fixture(disk.store(), {{from_file}, {}});
  EXPECT_EQ(fixture.get("bank").at("origin"), "file") << "what was dropped does not come back";
}

// PRX-12
TEST_F(UpstreamsAfterARestart, OverridesAreTakenBackKeyByKey) {
  TestUpstream upstream;
  providers::UpstreamSettings defaults;
  defaults.timeout = std::chrono::seconds(9);
  const auto from_file = entry({{"name", "bank"}, {"url", upstream.url()}, {"ttl", "5s"}}, defaults);
  AdminFixture fixture(disk.store(), {{from_file}, defaults});
  fixture.ask("PATCH", "/admin/upstreams/bank", {{"ttl", "1s"}, {"timeout", "2s"}});
  EXPECT_EQ(fixture.ask("PATCH", "/admin/upstreams/bank", {{"ttl", nullptr}}).json().at("ttl"), "5s");
  EXPECT_EQ(fixture.get("bank").at("overrides"), (value{"timeout"}));
  EXPECT_EQ(fixture.ask("PATCH", "/admin/upstreams/bank", {{"timeout", nullptr}}).json().at("timeout"), "9s");
  EXPECT_EQ(fixture.get("bank").at("origin"), "file");
  EXPECT_EQ(fixture.get("bank").as_object().contains("overrides"), false);
}

TEST_F(UpstreamsAfterARestart, OfTheFileWinOverThoseOfTheSameName) {
  TestUpstream upstream;
  {
    AdminFixture fixture(disk.store());
    fixture.ask("POST", "/admin/upstreams", {{"name", "bank"}, {"url", upstream.url()}, {"prefix", "api_"}});
  }
  disk.reopen();
  AdminFixture fixture(disk.store(), {{entry({{"name", "bank"}, {"url", upstream.url()}})}, {}});
  EXPECT_EQ(fixture.get("bank").at("origin"), "file");
  EXPECT_EQ(fixture.get("bank").at("prefix"), "bank_");
  ASSERT_TRUE(fixture.load({}));
  EXPECT_EQ(fixture.get("bank").at("origin"), "runtime") << "it was registered, and comes back when the file lets go";
  EXPECT_EQ(fixture.get("bank").at("prefix"), "api_");
}

TEST_F(UpstreamsAfterARestart, OfTheFileAreNotOverriddenInThePlaceOfOneThatWaits) {
  TestUpstream upstream;
  {
    AdminFixture fixture(disk.store());
    fixture.ask("POST", "/admin/upstreams",
                {{"name", "bank"}, {"url", upstream.url()}, {"era", "modern"}, {"timeout", "7s"}});
  }
  disk.reopen();
  {
    AdminFixture fixture(disk.store(), {{entry({{"name", "bank"}, {"url", upstream.url()}})}, {}});
    const auto refused = fixture.ask("PATCH", "/admin/upstreams/bank", {{"timeout", "9s"}});
    EXPECT_EQ(refused.status, 409);
    EXPECT_THAT(refused.body, HasSubstr("registered over the API"));
  }
  disk.reopen();
  AdminFixture fixture(disk.store());
  EXPECT_EQ(fixture.get("bank").at("origin"), "runtime");
  EXPECT_EQ(fixture.get("bank").at("timeout"), "7s");
  EXPECT_EQ(fixture.ask("PATCH", "/admin/upstreams/bank", {{"timeout", "9s"}}).status, 200);
}

TEST(UpstreamsThatCannotBeMade, SayWhyAndTheOthersAreServed) {
  TestUpstream upstream;
  store::MemoryStore memory;
  const auto broken = entry({{"name", "broken"},
                             {"url", upstream.url()},
                             {"authentication", {{"type", "bearer"}, {"token_env", "NOT_SET"}}}});
  AdminFixture fixture(memory, {{broken, entry({{"name", "bank"}, {"url", upstream.url()}})}, {}});
  ASSERT_TRUE(fixture.loaded) << fixture.loaded.error().message();
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  EXPECT_EQ(fixture.get("broken").at("state"), "failed");
  EXPECT_THAT(fixture.get("broken").at("last_error").as_string().c_str(), HasSubstr("NOT_SET"));
  EXPECT_EQ(fixture.ask("POST", "/admin/upstreams/broken/refresh").status, 409);
  const auto refused = fixture.ask(
      "POST", "/admin/upstreams",
      {{"name", "third"}, {"url", upstream.url()}, {"authentication", {{"type", "bearer"}, {"token_env", "NOT_SET"}}}});
  EXPECT_EQ(refused.json().at("errors").at(0).at("pointer"), "/authentication");
}

// SHP-01, SHP-05, SHP-06
TEST_F(Upstreams, AreShapedAndPausedWhileTheyRun) {
  ASSERT_EQ(fixture.ask("POST", "/admin/upstreams", bank()).status, 201);
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  const auto tables = boost::json::parse(R"([{"match":["ping"],"rename":"probe"},{"match":["gone_*"],"hidden":true}])");
  const auto patched = fixture.ask("PATCH", "/admin/upstreams/bank", {{"tools", tables}});
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  EXPECT_THAT(fixture.tools(), ElementsAre("bank_probe"));
  EXPECT_THAT(fixture.call("bank_probe").body, HasSubstr("pong"));
  const auto shown = fixture.get("bank");
  EXPECT_EQ(shown.at("configured_tools").at(0).at("rename"), "probe");
  EXPECT_EQ(shown.at("shaping").at("tables").at(0).at("fits"), 1);
  EXPECT_EQ(shown.at("shaping").at("tables").at(1).at("fits"), 0);
  EXPECT_EQ(shown.at("shaping").at("warnings").at(0), "tools[1] fits no tool: gone_*");

  ASSERT_EQ(fixture.ask("PATCH", "/admin/upstreams/bank", {{"enabled", false}}).status, 200);
  EXPECT_EQ(fixture.get("bank").at("state"), "paused");
  EXPECT_EQ(fixture.get("bank").at("last_error"), nullptr);
  EXPECT_THAT(fixture.tools(), IsEmpty());
  const auto refused = fixture.ask("POST", "/admin/upstreams/bank/refresh");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("it is paused"));
  ASSERT_EQ(fixture.ask("PATCH", "/admin/upstreams/bank", {{"enabled", nullptr}}).status, 200);
  EXPECT_EQ(fixture.refresh("bank").at("ok"), true);
  EXPECT_THAT(fixture.tools(), ElementsAre("bank_probe"));
}

}  // namespace
}  // namespace proteus::admin
