#include <thread>

#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/dataset_fixture.hpp"
#include "gateway/datasets/dataset_definitions.hpp"
#include "json/schema/schema.hpp"
#include "store/memory_store.hpp"

namespace proteus::admin::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class DatasetsTest : public testing::Test {
 protected:
  void SetUp() override { datasets::test::make_company(database); }

  std::unique_ptr<DatasetFixture> start(std::vector<providers::UpstreamSettings> upstreams = {}) {
    return std::make_unique<DatasetFixture>(mappings, store, environment, std::move(upstreams));
  }

  datasets::test::SqliteDatabase database;
  Mappings mappings;
  store::MemoryStore store{{}};
  Environment environment = fixed_environment({{"ACME_DSN", database.dsn()}});
};

bool is_error(const value& result) { return result.as_object().contains("isError"); }

// DAT-01
TEST_F(DatasetsTest, ListingShowsWhatThereIsAndThatItIsReadOnly) {
  mappings.ratify();
  const auto fixture = start();
  EXPECT_THAT(fixture->tool_names(), ElementsAre("connect_dataset", "list_datasets", "workup"));
  const value listed = fixture->call("list_datasets", "{}").at("structuredContent");
  EXPECT_EQ(boost::json::serialize(listed),
            R"({"datasets":[{"name":"acme","entity_types":["person","department","project"],)"
            R"("relationship_types":["MEMBER_OF","REPORTS_TO","WORKS_ON"],"connected":false,"tool":"workup_acme",)"
            R"("access":"read-only","description":"A company of five."}]})");
  EXPECT_EQ(
      fixture->text("list_datasets", "{}"),
      "- acme (not connected, read-only): A company of five. Entity types: person, department, project. Connect it "
      "with connect_dataset {\"name\": \"acme\"}.\n");
  fixture->connect("acme");
  EXPECT_TRUE(
      fixture->call("list_datasets", "{}").at("structuredContent").at("datasets").at(0).at("connected").as_bool());
}

// DAT-02
TEST_F(DatasetsTest, AConnectedDatasetHasAToolAtOnce) {
  mappings.ratify();
  const auto fixture = start();
  const value result = fixture->call("connect_dataset", R"({"name":"acme"})");
  EXPECT_EQ(result.at("structuredContent").at("tool").as_string(), "workup_acme");
  EXPECT_THAT(fixture->tool_names(), Contains("workup_acme"));
  EXPECT_EQ(fixture->call("workup_acme", R"({"entity":"Cy Lane"})").at("structuredContent").at("status").as_string(),
            "found");
  gateway::test::wait_until([&] { return fixture->changes == 1; });
}

// DAT-03
TEST_F(DatasetsTest, WhatIsRatifiedWhileItRunsCanBeConnected) {
  const auto fixture = start();
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("there is no dataset acme; none is available"));
  mappings.ratify();
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("acme is connected"));
}

// DAT-04
TEST_F(DatasetsTest, AnUnknownNameIsAnErrorThatSaysWhatThereIs) {
  mappings.ratify();
  mappings.ratify(mapping_called("beta"));
  const auto fixture = start();
  const value result = fixture->call("connect_dataset", R"({"name":"gamma"})");
  EXPECT_TRUE(is_error(result));
  EXPECT_THAT(std::string(result.at("content").at(0).at("text").as_string()), HasSubstr("available: acme, beta"));
  EXPECT_THAT(fixture->text("workup", R"({"entity":"x","dataset":"gamma"})"), HasSubstr("Available: acme, beta"));
  EXPECT_THAT(fixture->text("workup", R"({"entity":"x","dataset":"beta"})"), HasSubstr("Call connect_dataset"));
  EXPECT_EQ(fixture->tool_names().size(), 3U);
  EXPECT_EQ(fixture->changes, 0);
}

// DAT-05
TEST_F(DatasetsTest, OnlyPlainNamesAreTaken) {
  mappings.ratify();
  const auto fixture = start();
  for (const std::string& name :
       {std::string("../x"), std::string("../acme"), std::string("acme.toml"), std::string("postgres://u:p@h/d"),
        database.dsn(), std::string("acme;drop"), std::string("/etc/passwd"), std::string("acme "), std::string(),
        std::string(10'000, 'a')}) {
    EXPECT_THAT(fixture->connect(name), HasSubstr("by its name alone")) << name.substr(0, 40);
    EXPECT_THAT(fixture->text("workup", fmt::format(R"({{"entity":"x","dataset":"{}"}})", name)),
                HasSubstr("plain name"));
  }
  EXPECT_THAT(fixture->text("connect_dataset", R"({"name":5})"), HasSubstr("/name: must be a string"));
  EXPECT_THAT(fixture->text("connect_dataset", R"({"dsn":"sqlite:///x"})"), HasSubstr("dsn"));
  EXPECT_THAT(fixture->text("connect_dataset", "{}"), HasSubstr("name"));
}

// DAT-06
TEST_F(DatasetsTest, WhatNobodyRatifiedIsNotConnected) {
  mappings.put("acme.toml", datasets::test::kCompanyMapping);
  const auto fixture = start();
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("proteus dataset ratify"));
  mappings.ratify();
  mappings.put("acme.toml", std::string(datasets::test::kCompanyMapping) + " ");
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("changed since it was ratified"));
  EXPECT_THAT(fixture->call("list_datasets", "{}").at("structuredContent").at("datasets").as_array(),
              testing::IsEmpty());
  EXPECT_EQ(fixture->dataset("acme").at("status").as_string(), "changed");
}

// DAT-07
TEST_F(DatasetsTest, AMalformedMappingIsReportedAndHarmsNobody) {
  mappings.put("broken.toml", "[dataset]\nname = 5\n");
  mappings.ratify();
  const auto fixture = start();
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("is connected"));
  const value all = fixture->ask("GET", "/admin/datasets").body.at("datasets");
  EXPECT_EQ(all.at(1).at("file").as_string(), "broken.toml");
  EXPECT_EQ(all.at(1).at("status").as_string(), "invalid");
  EXPECT_FALSE(all.at(1).at("problems").as_array().empty());
}

// DAT-08
TEST_F(DatasetsTest, AToolThatIsThereKeepsItsName) {
  gateway::test::Upstream upstream({"workup_acme"});
  auto settings = gateway::test::upstream_at("other", upstream.port);
  settings.prefix = "";
  mappings.ratify();
  const auto fixture = start({settings});
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("already the name of a tool of other"));
  mappings.put("copy.toml", datasets::test::kCompanyMapping);
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("claims the name acme too"));
  mappings.ratify(mapping_called("beta"));
  EXPECT_THAT(fixture->connect("beta"), HasSubstr("is connected"));
}

// AUT-02: the refusal reveals nothing about a tool that the caller does not see; the operator gets the details.
TEST_F(DatasetsTest, AToolThatIsHiddenIsNotNamed) {
  gateway::test::Upstream upstream({"workup_acme"});
  auto settings = gateway::test::upstream_at("other", upstream.port);
  settings.prefix = "";
  mappings.ratify();
  const auto fixture = start({settings});
  fixture->gateway.set_access(
      {std::make_shared<const gateway::Principals>(
           std::vector<gateway::PrincipalSettings>{{.name = "few", .token = Secret("few"), .upstreams = {"datasets"}}},
           gateway::Anonymous::refused),
       {}});
  const std::string said = fixture->connect("acme", "Authorization: Bearer few\r\n");
  EXPECT_THAT(said, HasSubstr("Not connected: "));
  EXPECT_THAT(said, Not(HasSubstr("other")));
  EXPECT_THAT(said, Not(HasSubstr("already")));
  const auto answer = fixture->ask("POST", "/admin/datasets/acme/connect");
  EXPECT_EQ(answer.status, 409);
  EXPECT_THAT(boost::json::serialize(answer.body), HasSubstr("already the name of a tool of other"));
}

// DAT-09
TEST_F(DatasetsTest, ConnectingOftenIsConnectingOnce) {
  mappings.ratify();
  const auto fixture = start();
  std::vector<std::jthread> agents;
  for (int i = 0; i < 8; ++i) {
    agents.emplace_back([&] {
      EXPECT_EQ(fixture->call("connect_dataset", R"({"name":"acme"})").at("structuredContent").at("tool").as_string(),
                "workup_acme");
    });
  }
  agents.clear();
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("was connected already"));
  EXPECT_EQ(fixture->tool_names().size(), 4U);
  gateway::test::wait_until([&] { return fixture->changes == 1; });
  // Only operators disconnect datasets, not agents.
  EXPECT_EQ(fixture->ask("POST", "/admin/datasets/acme/disconnect", "wrong").status, 401);
  EXPECT_EQ(fixture->tool_names().size(), 4U);
  EXPECT_EQ(fixture->ask("POST", "/admin/datasets/acme/disconnect").status, 200);
  EXPECT_EQ(fixture->tool_names().size(), 3U);
  EXPECT_EQ(fixture->ask("POST", "/admin/datasets/acme/disconnect").status, 404);
  EXPECT_EQ(fixture->ask("POST", "/admin/datasets/acme/connect").status, 200);
  EXPECT_EQ(fixture->tool_names().size(), 4U);
  const auto audits = fixture->run(store.audits(10, std::nullopt)).value();
  ASSERT_EQ(audits.size(), 3U);  // SEC-08
  EXPECT_EQ(audits[0].what, "dataset.connect");
  EXPECT_EQ(audits[0].who, "admin");
  EXPECT_EQ(audits[1].what, "dataset.disconnect");
  EXPECT_EQ(audits[2].who, "agent");
}

// DAT-10: a dataset is connected even if its source cannot be opened.
TEST_F(DatasetsTest, ListingAndConnectingOpenNoSource) {
  environment = fixed_environment({{"ACME_DSN", "sqlite:///nowhere/at/all.db"}});
  mappings.ratify();
  const auto fixture = start();
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("is connected"));
  fixture->call("list_datasets", "{}");
  EXPECT_THAT(fixture->text("workup_acme", R"({"entity":"x"})"), HasSubstr("cannot be read now"));
}

// DAT-11
TEST_F(DatasetsTest, AVariableThatIsNotSetIsNamedAndAValueNever) {
  environment = fixed_environment({{"BAD_DSN", "mysql://root:hunter2@db/x"}});
  mappings.ratify();
  mappings.ratify(mapping_called("bad", "BAD_DSN"));
  const auto fixture = start();
  fixture->connect("acme");
  fixture->connect("bad");
  EXPECT_THAT(fixture->text("workup_acme", R"({"entity":"x"})"), HasSubstr("ACME_DSN"));
  const std::string text = fixture->text("workup_bad", R"({"entity":"x"})");
  EXPECT_THAT(text, HasSubstr("BAD_DSN"));
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(text, Not(HasSubstr("mysql")));
}

// DAT-12
TEST_F(DatasetsTest, TheToolOfADatasetIsWorkupForIt) {
  mappings.ratify();
  const auto fixture = start();
  fixture->connect("acme");
  for (const char* entity : {"Cy Lane", "Bo Reed", "nobody", "1"}) {
    EXPECT_EQ(fixture->call("workup_acme", fmt::format(R"({{"entity":"{}","hops":2,"limit":7}})", entity)),
              fixture->call("workup", fmt::format(R"({{"entity":"{}","dataset":"acme","hops":2,"limit":7}})", entity)));
  }
}

// DAT-16
TEST_F(DatasetsTest, HopsAndLimitsHaveCaps) {
  mappings.ratify();
  const auto fixture = start();
  fixture->connect("acme");
  EXPECT_THAT(fixture->text("workup_acme", R"({"entity":"x","hops":4})"), HasSubstr("/hops"));
  EXPECT_THAT(fixture->text("workup_acme", R"({"entity":"x","limit":501})"), HasSubstr("/limit"));
  EXPECT_THAT(fixture->text("workup_acme", R"({"entity":"","limit":0})"), HasSubstr("/entity"));
  EXPECT_THAT(fixture->text("workup_acme", R"({"entity":"x","type":"ghost"})"),
              HasSubstr("person, department, project"));
}

// DAT-22
TEST_F(DatasetsTest, ResultsFitTheirOutputSchemas) {
  mappings.ratify();
  const auto fixture = start();
  namespace definitions = gateway::dataset_definitions;
  const auto fits = [](const boost::json::object& schema, const value& result) {
    const auto validation = json::Schema::compile(schema).value()->validate(result.at("structuredContent"));
    EXPECT_TRUE(validation.ok()) << validation.text();
    EXPECT_FALSE(result.at("content").at(0).at("text").as_string().empty());
  };
  fits(definitions::connect_output(), fixture->call("connect_dataset", R"({"name":"acme"})"));
  fits(definitions::list_output(), fixture->call("list_datasets", "{}"));
  for (const char* entity : {"Cy Lane", "Bo Reed", "nobody", "employees/4", "1"}) {
    fits(definitions::workup_output(),
         fixture->call("workup_acme", fmt::format(R"({{"entity":"{}","hops":3}})", entity)));
  }
}

// DAT-06, DAT-21
TEST_F(DatasetsTest, AChangedFileIsWithdrawnAndTheOperatorSeesWhy) {
  mappings.ratify();
  const auto fixture = start();
  fixture->connect("acme");
  mappings.put("acme.toml", std::string(datasets::test::kCompanyMapping) + "#");
  gateway::test::wait_until([&] { return fixture->tool_names().size() == 3; });
  gateway::test::wait_until([&] { return fixture->changes == 2; });
  const value shown = fixture->dataset("acme");
  EXPECT_FALSE(shown.at("connected").as_bool());
  EXPECT_EQ(shown.at("status").as_string(), "changed");
  EXPECT_THAT(std::string(shown.at("withdrawn").at("reason").as_string()), HasSubstr("changed since it was ratified"));
  EXPECT_THAT(fixture->text("workup", R"({"entity":"x","dataset":"acme"})"), HasSubstr("was withdrawn"));
  EXPECT_EQ(fixture->run(store.audits(1, std::nullopt)).value().front().what, "dataset.withdraw");
}

// DAT-21
TEST_F(DatasetsTest, RevokingDisconnects) {
  mappings.ratify();
  const auto fixture = start();
  fixture->connect("acme");
  mappings.revoke("acme");
  gateway::test::wait_until([&] { return fixture->tool_names().size() == 3; });
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("was revoked"));
  EXPECT_EQ(fixture->dataset("acme").at("status").as_string(), "revoked");
  mappings.ratify();
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("is connected"));
}

// DAT-21: somebody has restored an older authentic record.
TEST_F(DatasetsTest, AnOlderRecordThatComesBackCountsNoMore) {
  mappings.ratify();
  const std::string old_record = mappings.get("ratified.toml");
  {
    const auto fixture = start();
    fixture->connect("acme");
    mappings.revoke("acme");
    gateway::test::wait_until([&] { return fixture->tool_names().size() == 3; });
    mappings.put("ratified.toml", old_record);
    EXPECT_THAT(fixture->connect("acme"), HasSubstr("older than one that was in force before"));
  }
  const auto fixture = start();
  EXPECT_THAT(fixture->connect("acme"), HasSubstr("older than one that was in force before"));
}

TEST_F(DatasetsTest, ConnectionsSurviveARestartAsFarAsTheyAreStillRatified) {
  mappings.ratify();
  mappings.ratify(mapping_called("beta"));
  {
    const auto fixture = start();
    fixture->connect("acme");
    fixture->connect("beta");
  }
  mappings.put("beta.toml", mapping_called("beta") + "#");
  const auto fixture = start();
  EXPECT_THAT(fixture->tool_names(), ElementsAre("connect_dataset", "list_datasets", "workup", "workup_acme"));
  EXPECT_EQ(fixture->dataset("beta").at("status").as_string(), "changed");
  EXPECT_EQ(fixture->changes, 0);
}

// DAT-02
TEST_F(DatasetsTest, WhatAnEarlierVersionKeptTogetherIsTakenApart) {
  mappings.ratify();
  store::test::Runner runner;
  runner.get(store.put(store::Setting{"datasets.connected", R"({"acme":"of before"})"}));
  const auto fixture = start();
  EXPECT_THAT(fixture->tool_names(), Contains("workup_acme"));
  EXPECT_EQ(runner.get(store.setting("datasets.connected")), std::nullopt);
  EXPECT_TRUE(runner.get(store.setting("datasets.connected.acme")));
  EXPECT_TRUE(runner.get(store.setting("datasets.floors.acme")));
}

TEST_F(DatasetsTest, RatifyingAnewKeepsItConnected) {
  mappings.ratify();
  const auto fixture = start();
  fixture->connect("acme");
  const std::string text = std::string(datasets::test::kCompanyMapping) + "# looked at again\n";
  mappings.ratify(text);
  fixture->call("list_datasets", "{}");
  EXPECT_THAT(fixture->tool_names(), Contains("workup_acme"));
  EXPECT_EQ(
      fixture->call("workup_acme", R"({"entity":"Cy Lane"})").at("structuredContent").at("mapping_sha256").as_string(),
      datasets::mapping_hash(text));
}

}  // namespace
}  // namespace proteus::admin::test
