#include "catalog/definitions/definition_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/testing/test_support.hpp"

namespace proteus::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::list_of;
using testing::shown;
using testing::tool;

// PRO-13
TEST(DefinitionList, KeepsEveryByteButTheName) {
  const std::string raw =
      R"({ "x-own" : {"name":"add","n":1.00}, "name" :"add", "inputSchema":{"type":"object"} ,"_meta":{"k":[1e2]}})";
  const auto list = list_of(Kind::tool, {raw}, {"p_", NameStyle::as_is});
  EXPECT_EQ(
      (*list)[0].text,
      R"({ "x-own" : {"name":"add","n":1.00}, "name" :"p_add", "inputSchema":{"type":"object"} ,"_meta":{"k":[1e2]}})");
  EXPECT_EQ((*list)[0].own, "add");
  EXPECT_EQ((*list)[0].shown, "p_add");
  EXPECT_EQ((*list)[0].hash, json::canonical_hash(raw).value());
  EXPECT_EQ(original_text(Kind::tool, (*list)[0]), raw);
  EXPECT_EQ(list_of(Kind::tool, {raw})->joined(), raw);
}

TEST(DefinitionList, IsInTheOrderOfNamesInOneBuffer) {
  const auto list = list_of(Kind::tool, {tool("c"), tool("a"), tool("b")});
  EXPECT_THAT(shown(*list), ElementsAre("a", "b", "c"));
  EXPECT_EQ(list->joined(), tool("a") + "," + tool("b") + "," + tool("c"));
  EXPECT_EQ(list->joined(1, 3), tool("b") + "," + tool("c"));
  EXPECT_EQ(list->joined(1, 1), "");
  EXPECT_EQ(list->above("a"), 1U);
  EXPECT_EQ(list->above("bb"), 2U);
  EXPECT_EQ(list->above("c"), 3U);
  EXPECT_EQ(list->find("b"), &(*list)[1]);
  EXPECT_EQ(list->find("d"), nullptr);
}

TEST(DefinitionList, PutsNoLineBreakIntoATransportOfLines) {
  const auto list = list_of(Kind::tool, {"\n{\n \"name\": \"a\",\r\n\"inputSchema\":{\"type\":\"object\"}}\n"});
  EXPECT_EQ(list->joined(), R"({  "name": "a",  "inputSchema":{"type":"object"}})");
}

TEST(DefinitionList, ReadsNamesThatAreWrittenWithEscapes) {
  const auto list = list_of(Kind::resource, {R"({"uri":"x:\/\/a","name":"r"})", R"({"\u0075ri":"x://b","name":"r"})"});
  EXPECT_THAT(shown(*list), ElementsAre("x://a", "x://b"));
  EXPECT_NE(list->find("x://a"), nullptr);
  EXPECT_EQ((*list)[0].text, R"({"uri":"x:\/\/a","name":"r"})");
}

// PRX-15
TEST(DefinitionList, LeavesOutWhatCannotBeOfferedAndSaysWhy) {
  struct Case {
    std::string raw;
    std::string_view reason;
  };
  const std::vector<Case> cases = {
      {"{nonsense}", "not JSON"},
      {"[1]", "object is expected"},
      {R"({"title":"x"})", "no name"},
      {R"({"name":7,"inputSchema":{"type":"object"}})", "not a string"},
      {R"({"name":"","inputSchema":{"type":"object"}})", "empty"},
      {R"({"name":"a\u0007b","inputSchema":{"type":"object"}})", "control character"},
      {R"({"name":"a b","inputSchema":{"type":"object"}})", "portable"},
      {R"({"name":"a"})", "no inputSchema"},
      {R"({"name":"a","inputSchema":[]})", "not an object"},
      {R"({"name":"a","inputSchema":{"type":"string"}})", "\"object\""},
      {R"({"name":"a","inputSchema":{"type":"object","properties":[]}})", "not an object"},
      {R"({"name":"a","inputSchema":{"type":"object","required":[1]}})", "array of strings"},
      {R"({"name":"a","inputSchema":{"type":"object"},"outputSchema":1})", "outputSchema"},
      {R"({"name":"a","inputSchema":{"type":"object","a":{"b":1,"b":2}}})", "twice"},
      {R"({"name":"a","inputSchema":{"type":"object","properties":{"p":{"type":"number","x-mcp-header":"P"}}}})",
       "x-mcp-header"},
      {R"({"name":"a","description":5,"inputSchema":{"type":"object"}})", "description is not a string"},
      // TSK-01
      {R"({"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}})", "only as a task"},
      {tool(std::string(129, 'x')), "limit of 128"},
      {tool("big", std::string(2U << 20U, 'x')), "limit of 1048576"},
  };
  for (const auto& [raw, reason] : cases) {
    const auto list = list_of(Kind::tool, {raw, tool("good")});
    EXPECT_THAT(shown(*list), ElementsAre("good")) << raw.substr(0, 100);
    ASSERT_EQ(list->omissions().size(), 1U) << raw.substr(0, 100);
    EXPECT_THAT(list->omissions()[0].reason, HasSubstr(reason));
    EXPECT_EQ(list->omitted(), 1U);
  }
  EXPECT_EQ(list_of(Kind::prompt, {R"({"name":"p","arguments":[{}]})"})->omitted(), 1U);
  EXPECT_EQ(list_of(Kind::resource, {R"({"uri":"x://a"})"})->omitted(), 1U);
  EXPECT_EQ(list_of(Kind::resource_template, {R"({"uriTemplate":"x://{a","name":"t"})"})->omitted(), 1U);
}

// TSK-01
TEST(DefinitionList, KeepsAToolThatCanOnlyBeATaskWhereItsServerOffersTasks) {
  const std::string raw = R"({"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}})";
  const std::vector<std::string_view> texts = {raw};
  const auto kept = DefinitionList::build(Kind::tool, texts, {}, {.tasks = Tasks::spoken}).value();
  EXPECT_EQ(kept->joined(), raw);
  EXPECT_TRUE(kept->has_task_only());
  EXPECT_TRUE((*kept)[0].task_only);
  const auto again = DefinitionList::build(Kind::tool, texts, {}, {.tasks = Tasks::spoken}, kept).value();
  EXPECT_EQ(again, kept);
  const auto gone = DefinitionList::build(Kind::tool, texts, {}, {}, kept).value();
  EXPECT_EQ(gone->size(), 0U) << "the server offers no tasks any more";
  EXPECT_EQ(gone->omitted(), 1U);
}

// TSK-01
TEST(DefinitionList, KeepsAToolThatCanBeATaskAndNeedNot) {
  const std::string raw = R"({"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}})";
  EXPECT_EQ(list_of(Kind::tool, {raw})->joined(), raw);
}

// PRX-15
TEST(DefinitionList, KeepsTheFirstOfTwoWithOneName) {
  const auto list = list_of(Kind::tool, {tool("a", "first"), tool("a", "second")});
  EXPECT_EQ(list->joined(), tool("a", "first"));
  ASSERT_EQ(list->omissions().size(), 1U);
  EXPECT_THAT(list->omissions()[0].reason, HasSubstr("same name"));
  EXPECT_EQ(list->omissions()[0].name, "a");
}

// PRX-15
TEST(DefinitionList, LeavesOutANameThatItsPrefixMakesTooLong) {
  const auto list = list_of(Kind::tool, {tool(std::string(128, 'a'))}, {"p_", NameStyle::as_is});
  EXPECT_EQ(list->size(), 0U);
  EXPECT_THAT(list->omissions().at(0).reason, HasSubstr("with its prefix"));
}

TEST(DefinitionList, BoundsWhatItSaysAboutWhatItLeftOut) {
  const std::vector<std::string> bad(DefinitionList::kMaxOmissions + 5, "{}");
  const auto list = list_of(Kind::tool, bad);
  EXPECT_EQ(list->omissions().size(), DefinitionList::kMaxOmissions);
  EXPECT_EQ(list->omitted(), bad.size());
}

TEST(DefinitionList, RefusesMoreThanItsLimits) {
  const std::vector<std::string_view> three(3, R"({"name":"a"})");
  EXPECT_EQ(DefinitionList::build(Kind::tool, three, {}, {.definitions = 2}).error().kind(), ErrorKind::too_large);
  EXPECT_EQ(DefinitionList::build(Kind::tool, three, {}, {.bytes = 30}).error().kind(), ErrorKind::too_large);
}

// PRX-18
TEST(DefinitionList, FindsPortableNamesByTheirFullNameToo) {
  const auto list = list_of(Kind::prompt, {R"({"name":"a b"})", R"({"name":"c"})"}, {"p.", NameStyle::portable});
  EXPECT_THAT(shown(*list), ElementsAre("p_a_b", "p_c"));
  EXPECT_EQ((*list)[0].own, "a b");
  EXPECT_EQ((*list)[0].text, R"({"name":"p_a_b"})");
  EXPECT_EQ(list->find("p.a b"), nullptr);
  EXPECT_EQ(list->find_alias("p.a b", name_hash("p.a b")), &(*list)[0]);
  EXPECT_EQ(list->find_alias("p.c", name_hash("p.c")), &(*list)[1]);
  EXPECT_EQ(list->find_alias("a b", name_hash("a b")), nullptr);
}

TEST(DefinitionList, KnowsTheParametersMirroredInHeaders) {
  const auto list = list_of(
      Kind::tool,
      {R"({"name":"a","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}}})",
       tool("b")});
  ASSERT_NE((*list)[0].mirrored, nullptr);
  EXPECT_EQ((*list)[0].mirrored->at(0).header, "Mcp-Param-Region");
  EXPECT_EQ((*list)[1].mirrored, nullptr);
}

TEST(DefinitionList, TakesWhatHasNotChangedFromTheOneBefore) {
  const NameRules rules{"p_", NameStyle::as_is};
  const std::string mirrored =
      R"({"name":"m","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}}})";
  const auto before = list_of(Kind::tool, {tool("a"), mirrored, "{}"}, rules);
  EXPECT_EQ(list_of(Kind::tool, {"{}", mirrored, tool("a")}, rules, before), before);
  const auto after = list_of(Kind::tool, {mirrored, tool("a", "another")}, rules, before);
  ASSERT_EQ(after->size(), 2U);
  EXPECT_NE((*after)[0].hash, (*before)[0].hash);
  EXPECT_EQ((*after)[1].hash, (*before)[1].hash);
  ASSERT_NE((*after)[1].mirrored, nullptr);
  EXPECT_NE((*after)[1].mirrored, (*before)[1].mirrored);
  EXPECT_NE(list_of(Kind::tool, {tool("a"), mirrored, "{}"}, {"q_", NameStyle::as_is}, before), before);
}

TEST(DefinitionList, TriesThePreciseTemplateFirst) {
  const auto list =
      list_of(Kind::resource_template, {testing::uri_template("x://{+a}"), testing::uri_template("x://fixed/{a}")});
  EXPECT_EQ((*list)[list->by_precision()[0]].own, "x://fixed/{a}");
}

TEST(Snapshot, KeepsTheListsThatWereNotReadAgain) {
  const std::string one = tool("a");
  const std::string two = R"({"name":"p"})";
  RawListing all;
  all.definitions[Kind::tool] = std::vector<std::string_view>{one};
  all.definitions[Kind::prompt] = std::vector<std::string_view>{two};
  const auto before = build_snapshot(UpstreamName("u"), 1, std::move(all), {}, {}).value();
  RawListing tools;
  tools.definitions[Kind::tool] = std::vector<std::string_view>{};
  const auto after = build_snapshot(UpstreamName("u"), 2, std::move(tools), {}, {}, before).value();
  EXPECT_THAT(shown(after->list(Kind::tool)), IsEmpty());
  EXPECT_EQ(&after->list(Kind::prompt), &before->list(Kind::prompt));
  EXPECT_EQ(after->list(Kind::resource).size(), 0U);
}

}  // namespace
}  // namespace proteus::catalog
