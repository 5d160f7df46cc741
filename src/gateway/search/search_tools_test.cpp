// The answers of `search_tools` and `describe_tool`.
#include <gmock/gmock.h>

#include "gateway/testing/routing_fixture.hpp"
#include "gateway/testing/search_fixture.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using providers::RefreshStrategy;
using server::text_of;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class SearchAnswers : public ::testing::Test {
 protected:
  SearchAnswers() {
    add("read_file", "Reads a file. Gives its whole text.",
        {{"type", "object"},
         {"properties", {{"path", {{"type", "string"}}}, {"lines", {{"type", "integer"}, {"default", 100}}}}},
         {"required", {"path"}}},
        true);
    add("delete_file", "Removes a file for good.",
        {{"type", "object"}, {"properties", {{"path", {{"type", "string"}}}}}, {"required", {"path"}}}, false);
    add("send_mail", "Sends a message to somebody.", {{"type", "object"}}, false);
    gateway.emplace(std::vector{upstream_at("fs", upstream.port)}, searching());
    gateway->discover();
  }

  void add(std::string name, std::string description, boost::json::object schema, bool read_only) {
    upstream.server
        .add_tool({.name = std::move(name),
                   .description = std::move(description),
                   .input_schema = std::move(schema),
                   .annotations = {{"readOnlyHint", read_only}}},
                  [](server::Context&) { return server::ToolResult::text("done"); })
        .value();
  }
  boost::json::value search(std::string_view arguments, std::string_view token = "agent") {
    return gateway->call("search_tools", arguments, bearer(token));
  }
  boost::json::value describe(std::string_view arguments) {
    return gateway->call("describe_tool", arguments, bearer("agent"));
  }
  static bool is_refused(const boost::json::value& answer) {
    if (answer.as_object().contains("error")) return true;
    const auto* error = answer.at("result").as_object().if_contains("isError");
    return error != nullptr && error->as_bool();
  }

  Upstream upstream{{}};
  std::optional<TestGateway> gateway;
};

// SRC-02, SRC-03
TEST_F(SearchAnswers, AreSignaturesToCallBy) {
  const auto answer = search(R"({"query":"read the text of a file","limit":1})");
  const auto& hit = answer.at("result").at("structuredContent").at("tools").at(0);
  EXPECT_EQ(hit.at("name"), "fs_read_file");
  EXPECT_EQ(hit.at("upstream"), "fs");
  EXPECT_EQ(hit.at("signature"), "fs_read_file(path: string, lines?: integer = 100)");
  EXPECT_EQ(hit.at("description"), "Reads a file. Gives its whole text.");
  EXPECT_EQ(hit.at("readOnly"), true);
  EXPECT_THAT(text_of(answer), HasSubstr("fs_read_file(path: string, lines?: integer = 100) [fs, read-only]"));
  EXPECT_THAT(found_by(search(R"({"query":"send a message"})")), ElementsAre("fs_send_mail"));
}

// SRC-02: several queries yield one ranking.
TEST_F(SearchAnswers, FuseSeveralQueries) {
  const auto found = found_by(search(R"({"queries":["read a file","send mail"],"limit":2})"));
  EXPECT_THAT(found, ::testing::UnorderedElementsAre("fs_read_file", "fs_send_mail"));
}

// SRC-02: a search can be limited to one upstream.
TEST_F(SearchAnswers, AreOfTheUpstreamThatIsAskedFor) {
  EXPECT_THAT(found_by(search(R"({"query":"file","upstream":"fs"})")), Contains("fs_read_file"));
  EXPECT_THAT(text_of(search(R"({"query":"file","upstream":"other"})")), HasSubstr("no upstream other"));
}

// SRC-02: a search finds only what its caller may use.
TEST_F(SearchAnswers, HaveNothingThatTheCallerMayNotUse) {
  EXPECT_THAT(found_by(search(R"({"query":"file"})", "reader")), ElementsAre("fs_read_file"));
}

// SRC-06
TEST_F(SearchAnswers, FollowTheCatalog) {
  EXPECT_THAT(found_by(search(R"({"query":"mail"})")), ElementsAre("fs_send_mail"));
  upstream.server.remove_tool("send_mail");
  upstream.add("post_letter", "Sends mail by post.");
  EXPECT_FALSE(gateway->refresh("fs").error);
  EXPECT_THAT(found_by(search(R"({"query":"mail"})")), ElementsAre("fs_post_letter"));
}

// SRC-03
TEST_F(SearchAnswers, DescribeSeveralToolsAtOnce) {
  const auto answer = describe(R"({"names":["fs_read_file","fs_delete_file","fs_raed_file"]})");
  const auto& tools = answer.at("result").at("structuredContent").at("tools");
  EXPECT_THAT(tool_names(tools), ElementsAre("fs_read_file", "fs_delete_file"));
  EXPECT_EQ(tools.at(0).at("inputSchema").at("properties").at("lines").at("default"), 100);
  const auto& unknown = answer.at("result").at("structuredContent").at("unknown").at(0);
  EXPECT_EQ(unknown.at("name"), "fs_raed_file");
  EXPECT_EQ(unknown.at("nearest").at(0), "fs_read_file");
}

// SRC-09
TEST_F(SearchAnswers, RefuseBadQueriesClearly) {
  for (const auto arguments :
       {R"({})", R"({"query":""})", R"({"query":"  \n "})", R"({"queries":[]})", R"({"query":7})",
        R"({"limit":0,"query":"x"})", R"({"limit":51,"query":"x"})", R"({"query":"x","more":1})", R"([])"})
    EXPECT_TRUE(is_refused(search(arguments))) << arguments;
  const std::string long_query(1U << 20U, 'q');
  const auto refused = search(fmt::format(R"({{"query":"{}"}})", long_query));
  EXPECT_TRUE(is_refused(refused));
  EXPECT_LT(text_of(refused).size(), 1000U);
  for (const auto query :
       {"the and of", "文件", "ملف", "\xF0\x9F\x93\x81", R"(\u0000\u001b[31mfile)", R"({\"query\":1})"})
    EXPECT_TRUE(search(fmt::format(R"({{"query":"{}"}})", query)).as_object().contains("result")) << query;
  std::string names;
  for (int i = 0; i < 1000; ++i)
    names += fmt::format(R"({}"tool{}")", i == 0 ? "" : ",", i);
  EXPECT_TRUE(is_refused(describe(fmt::format(R"({{"names":[{}]}})", names))));
  EXPECT_TRUE(is_refused(describe(R"({"names":[]})")));
  EXPECT_TRUE(is_refused(describe(R"({"names":"fs_read_file"})")));
}

// SRC-02: live lists are read for the search, and upstreams that do not answer are named.
TEST(LiveSearch, AsksThoseThatAreListedLiveAndNamesTheSilent) {
  ListingUpstream talking("talking");
  ListingUpstream silent("silent");
  talking.show(Kind::tool, "", {"weather"});
  silent.show(Kind::tool, "", {"weather_too"});
  std::vector<providers::UpstreamSettings> settings;
  for (auto* each : {&talking, &silent}) {
    auto& one = settings.emplace_back(upstream_at(each->name(), each->port()));
    one.refresh_strategy = RefreshStrategy::direct_proxy;
  }
  TestGateway gateway(settings, searching());
  gateway.discover();
  const auto search = [&] { return gateway.call("search_tools", R"({"query":"weather"})", bearer("agent")); };
  EXPECT_THAT(found_by(search()), ::testing::UnorderedElementsAre("talking_weather", "silent_weather_too"));
  silent.set_mute(true);
  const auto answer = search();
  EXPECT_THAT(found_by(answer), ElementsAre("talking_weather"));
  EXPECT_EQ(answer.at("result").at("structuredContent").at("unanswered").at(0), "silent");
  EXPECT_THAT(text_of(answer), HasSubstr("silent"));
}

// SRC-12: text about a provider counts, such as the entity types of datasets.
TEST(SearchIndexes, KnowWhatAProviderIsAbout) {
  Upstream upstream({"workup"});
  auto setup = searching();
  setup.locals = [](Gateway& gateway) {
    return Locals{std::make_shared<SearchTools>(gateway, [](const catalog::Snapshot& snapshot) {
      return std::string(snapshot.upstream().value() == "up" ? "Customer Invoice" : "");
    })};
  };
  TestGateway gateway({upstream_at("up", upstream.port)}, std::move(setup));
  gateway.discover();
  EXPECT_THAT(found_by(gateway.call("search_tools", R"({"query":"invoices of a customer"})", bearer("agent"))),
              ElementsAre("up_workup"));
}

// There is no index before the first search, and an index that is no longer used is dropped.
TEST(SearchIndexes, AreMadeAtTheFirstSearchAndLetGoOf) {
  Upstream upstream({"one", "two"});
  auto setup = searching();
  std::shared_ptr<SearchTools> tools;
  setup.locals = [&](Gateway& gateway) {
    tools = std::make_shared<SearchTools>(gateway);
    return Locals{tools};
  };
  TestGateway gateway({upstream_at("up", upstream.port)}, std::move(setup));
  gateway.discover();
  (void)gateway.tools(bearer("agent"));
  EXPECT_EQ(tools->search().indexed_snapshots(), 0U);
  EXPECT_THAT(found_by(gateway.call("search_tools", R"({"query":"two"})", bearer("agent"))), ElementsAre("up_two"));
  EXPECT_EQ(tools->search().indexed_snapshots(), 1U);
  gateway.gateway.drop_unused_since(SystemClock().now() + 1h);
  EXPECT_EQ(tools->search().indexed_snapshots(), 0U);
}

}  // namespace
}  // namespace proteus::gateway
