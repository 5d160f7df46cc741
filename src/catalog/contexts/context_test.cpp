#include "catalog/contexts/context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/contexts/contexts.hpp"
#include "catalog/testing/test_support.hpp"

namespace proteus::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::shown;
using testing::snapshot;
using testing::tool;

constexpr auto kEverywhere = [](std::string_view) { return true; };

SnapshotPointer tools(const std::vector<std::string>& raw, const NameRules& rules = {"g_", NameStyle::as_is}) {
  return snapshot("graph", 1, {.tools = raw, .resources = {}, .templates = {}}, rules);
}

std::string described(const SnapshotPointer& seen, std::string_view name) {
  const Definition* const found = seen->list(Kind::tool).find(name);
  return found == nullptr ? "(absent)" : json::decode_string(json::find_member(found->text, "description")).value();
}

SnapshotPointer look(const Manifests& manifests, std::string_view context, const SnapshotPointer& at) {
  return Contexts::make(manifests)->lens(context, kEverywhere)->through(at);
}

// CTX-01
TEST(Context, WithoutAManifestLeavesEveryByte) {
  const auto base = tools({R"({"name":"read","description":"Re\u0061ds","inputSchema":{"type":"object"}})"});
  EXPECT_EQ(look({{{"plain", {}}}, {}}, "plain", base), base) << "the very same snapshot";
}

// CTX-02, CTX-07
TEST(Context, AppendsAndTouchesNothingElse) {
  const std::string raw =
      R"({ "x":{"description":"d"}, "description" : "Re\u0061ds \"it\"." ,"inputSchema":{"type":"object","n":1.00},)"
      R"( "name":"read","annotations":{"readOnlyHint":true},"_meta":{"k":[1e2]}})";
  const auto base = tools({raw}, {});
  const auto seen = look({{{"c", {.tool_supplements = {{"read", "More\nof \"it\"."}}}}}, {}}, "c", base);
  EXPECT_EQ(seen->list(Kind::tool)[0].text,
            R"({ "x":{"description":"d"}, "description" : "Re\u0061ds \"it\".\n\nMore\nof \"it\"." ,)"
            R"("inputSchema":{"type":"object","n":1.00}, "name":"read","annotations":{"readOnlyHint":true},)"
            R"("_meta":{"k":[1e2]}})");
  EXPECT_EQ(seen->list(Kind::tool)[0].hash, base->list(Kind::tool)[0].hash);
  EXPECT_EQ(seen->upstream(), base->upstream());
}

TEST(Context, GivesADescriptionToAToolThatHasNone) {
  EXPECT_EQ(append_to_description(R"({"name":"a"})", "b"), R"({"name":"a","description":"b"})");
  EXPECT_EQ(append_to_description(R"({"name":"a","description":""})", "b"), R"({"name":"a","description":"b"})");
  EXPECT_EQ(append_to_description(R"({"name":"a"})", ""), R"({"name":"a"})");
}

// CTX-03, CTX-08, CTX-10
TEST(Context, MentionsTheSiblingsThatAreServedAndNeverItself) {
  const Manifests manifests{
      {{"filings", {.siblings = {"filings_old", "filings", "gone"}}},
       {"filings_old",
        {.parent = "filings", .display_name = "Filings, before 2009", .siblings = {"filings_old", "filings"}}}},
      {}};
  const auto base = tools({tool("read", "Reads.")});
  EXPECT_EQ(described(look(manifests, "filings", base), "g_read"),
            "Reads.\n\nRelated contexts, each with an endpoint of its own: filings_old (Filings, before 2009) at "
            "/mcp/filings_old.");
  const std::string child = described(look(manifests, "filings_old", base), "g_read");
  EXPECT_THAT(child, HasSubstr(": filings at /mcp/filings."));
  EXPECT_THAT(child, Not(HasSubstr("filings_old")));
}

// CTX-03: an agent reads about siblings once, not with each tool.
TEST(Context, MentionsSiblingsOnOneToolOrOnThoseThatPatternsName) {
  const auto base = tools({tool("a", "A."), tool("b", "B."), tool("c", "C."), tool("d", "D.")});
  const auto mentioning = [&](ContextManifest manifest) {
    manifest.siblings = {"other"};
    const auto seen = look({{{"here", std::move(manifest)}, {"other", {}}}, {{"s", {{"c", "d"}, "G"}}}}, "here", base);
    std::vector<std::string> names;
    for (const Definition& one : seen->list(Kind::tool).definitions()) {
      if (one.text.contains("/mcp/other")) names.emplace_back(one.own);
    }
    return names;
  };
  EXPECT_THAT(mentioning({}), ElementsAre("a"));
  EXPECT_THAT(mentioning({.exclude = {"a"}}), ElementsAre("b"));
  EXPECT_THAT(mentioning({.tool_supplements = {{"b", "More."}}}), ElementsAre("b")) << "the context speaks of that one";
  EXPECT_THAT(mentioning({.schemas = {"s"}}), ElementsAre("c"));
  EXPECT_THAT(mentioning({.schemas = {"s"}, .tool_supplements = {{"d", "More."}}}), ElementsAre("d"));
  EXPECT_THAT(mentioning({.sibling_tools = {{"g_b", "d*"}}}), ElementsAre("b", "d"));
  EXPECT_THAT(mentioning({.sibling_tools = {{"*"}}}), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(mentioning({.sibling_tools = std::vector<std::string>{}}), IsEmpty());
}

// CTX-03: a context that a caller may not enter does not exist for the caller.
TEST(Context, DoesNotMentionASiblingToWhomMayNotEnterIt) {
  const auto contexts = Contexts::make({{{"a", {.siblings = {"b", "c"}}}, {"b", {}}, {"c", {}}}, {}});
  const auto lens = contexts->lens("a", [](std::string_view name) { return name != "b"; });
  const std::string text = described(lens->through(tools({tool("read")})), "g_read");
  EXPECT_THAT(text, HasSubstr("/mcp/c"));
  EXPECT_THAT(text, Not(HasSubstr("/mcp/b")));
  EXPECT_NE(lens->fingerprint(), contexts->lens("a", kEverywhere)->fingerprint());
  EXPECT_EQ(lens, contexts->lens("a", [](std::string_view name) { return name == "c"; })) << "shared by all such";
}

// CTX-04
TEST(Context, ShowsASupplementOnTheToolItNamesByEitherName) {
  const auto base = tools({tool("read", "R."), tool("write", "W."), tool("drop", "D.")});
  const Manifests manifests{{{"c", {.tool_supplements = {{"read", "own"}, {"g_write", "shown"}, {"write", "no"}}}}},
                            {}};
  const auto seen = look(manifests, "c", base);
  EXPECT_EQ(described(seen, "g_read"), "R.\n\nown");
  EXPECT_EQ(described(seen, "g_write"), "W.\n\nshown") << "the name clients see is the more exact one";
  EXPECT_EQ(described(seen, "g_drop"), "D.");
}

// CTX-05
TEST(Context, ShowsGuidanceOnlyWhereTheSchemaIsInUseAndOnlyOnItsTools) {
  const Manifests manifests{{{"ledger", {.schemas = {"accounts"}}}, {"custom", {}}},
                            {{"accounts", {.tools = {"read-graph-*"}, .guidance = "\n  Facts carry dimensions.\n"}}}};
  const auto base = tools({tool("read-graph-cypher", "R."), tool("other", "O.")});
  const auto ledger = look(manifests, "ledger", base);
  EXPECT_EQ(described(ledger, "g_read-graph-cypher"), "R.\n\nFacts carry dimensions.");
  EXPECT_EQ(described(ledger, "g_other"), "O.");
  EXPECT_EQ(look(manifests, "custom", base), base);
}

TEST(Context, PutsGuidanceBeforeTheSupplementAndSiblingsLast) {
  const Manifests manifests{
      {{"a", {.siblings = {"b"}, .schemas = {"s", "t"}, .tool_supplements = {{"read", "supplement"}}}}, {"b", {}}},
      {{"s", {.guidance = "first"}}, {"t", {.guidance = "second"}}}};
  EXPECT_THAT(described(look(manifests, "a", tools({tool("read", "base")})), "g_read"),
              ::testing::StartsWith("base\n\nfirst\n\nsecond\n\nsupplement\n\nRelated contexts"));
}

// CTX-12
TEST(Context, AddsNothingForABlankText) {
  const Manifests manifests{{{"c", {.schemas = {"s"}, .tool_supplements = {{"read", " \n\t"}}}}},
                            {{"s", {.guidance = "\n"}}}};
  const auto base = tools({tool("read", "R.")});
  EXPECT_EQ(look(manifests, "c", base), base);
}

// CTX-16
TEST(Context, IncludesAndExcludesByEitherName) {
  const auto base = tools({tool("read"), tool("read_all"), tool("write")});
  const auto names = [&](ContextManifest manifest) {
    return shown(look({{{"c", std::move(manifest)}}, {}}, "c", base)->list(Kind::tool));
  };
  EXPECT_THAT(names({.include = {"read*"}}), ElementsAre("g_read", "g_read_all"));
  EXPECT_THAT(names({.include = {"read*"}, .exclude = {"g_read_all"}}), ElementsAre("g_read"));
  EXPECT_THAT(names({.exclude = {"*"}}), IsEmpty());
  EXPECT_THAT(names({.include = {}}), IsEmpty());
  EXPECT_THAT(names({.include = {"prompt:x"}}), ElementsAre("g_read", "g_read_all", "g_write"));
}

TEST(Context, FiltersPromptsAndResourcesWherePatternsSpeakOfThem) {
  const auto base = snapshot("files", 1,
                             {.tools = {tool("read")},
                              .resources = {testing::resource("file:///a"), testing::resource("file:///secret/b")},
                              .templates = {testing::uri_template("file:///secret/{x}")}});
  const auto seen = look({{{"c", {.exclude = {"resource:file:///secret/*"}}}}, {}}, "c", base);
  EXPECT_THAT(shown(seen->list(Kind::resource)), ElementsAre("file:///a"));
  EXPECT_EQ(seen->list(Kind::resource_template).size(), 0U);
  EXPECT_EQ(seen->lists()[Kind::tool], base->lists()[Kind::tool]);
  const Context context("c", {{{"c", {.include = {"prompt:a*"}}}}, {}}, {});
  EXPECT_TRUE(context.admits(Kind::prompt, {"ab", "ab"}));
  EXPECT_FALSE(context.admits(Kind::prompt, {"b", "b"}));
}

TEST(Context, KeepsLooksUpInWhatItLeavesOver) {
  const auto base = snapshot("p", 1,
                             {.tools = {tool("a b"), tool("c d"), tool("e")},
                              .resources = {},
                              .templates = {testing::uri_template("x://{a}"), testing::uri_template("x://y/{a}")}},
                             {"p.", NameStyle::portable});
  const auto seen = look({{{"c", {.exclude = {"a b", "resource:x://{a}"}}}}, {}}, "c", base);
  const auto& list = seen->list(Kind::tool);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list.find_alias("p.c d", name_hash("p.c d"))->own, "c d");
  EXPECT_EQ(list.find_alias("p.a b", name_hash("p.a b")), nullptr);
  EXPECT_EQ(list.joined(), std::string(list[0].text) + "," + std::string(list[1].text));
  ASSERT_EQ(seen->list(Kind::resource_template).by_precision().size(), 1U);
  EXPECT_TRUE(seen->list(Kind::resource_template)[0].pattern->matches("x://y/z"));
}

// CTX-18
TEST(Context, NamesTheTypesOfItsDatasetAsTheyAreNow) {
  DatasetTypes types{{"person", "team"}, {"MEMBER_OF"}};
  const auto contexts = Contexts::make(
      {{{"c", {.schemas = {"s"}, .dataset = "acme"}},
        {"d", {.schemas = {"s"}}},
        {"e", {.instructions = "{entity_types}", .dataset = "gone", .tool_supplements = {{"read", "{entity_types}"}}}}},
       {{"s", {.guidance = "Look first. Types: {entity_types}; edges: {relationship_types}. Then ask."}}}},
      [&](const std::string& dataset) { return dataset == "acme" ? std::optional(types) : std::nullopt; });
  const auto base = tools({tool("read", "R.")});
  const auto text = [&](const Contexts& of, std::string_view name) {
    return described(of.lens(name, kEverywhere)->through(base), "g_read");
  };
  EXPECT_EQ(text(*contexts, "c"), "R.\n\nLook first. Types: person, team; edges: MEMBER_OF. Then ask.");
  EXPECT_EQ(text(*contexts, "d"), "R.\n\nLook first. Then ask.") << "a sentence that cannot be filled in is left out";
  EXPECT_EQ(text(*contexts, "e"), "R.") << "where nothing is left there is no part";
  EXPECT_EQ(contexts->find("e")->instructions(), "");
  types.entities = {"person"};
  EXPECT_EQ(text(*contexts->renewed(), "c"), "R.\n\nLook first. Types: person; edges: MEMBER_OF. Then ask.");
}

// CTX-06
TEST(Contexts, MakeALookOnceAndDoNotGrow) {
  const auto contexts = Contexts::make(
      {{{"a", {.tool_supplements = {{"read", "A"}}}}, {"b", {.tool_supplements = {{"read", "B"}}}}}, {}});
  const auto base = tools({tool("read", "R.")});
  const auto a = contexts->lens("a", kEverywhere);
  const auto first = a->through(base);
  EXPECT_EQ(a->through(base), first);
  EXPECT_EQ(described(first, "g_read"), "R.\n\nA");
  EXPECT_EQ(described(contexts->lens("b", kEverywhere)->through(base), "g_read"), "R.\n\nB");
  std::weak_ptr<const Snapshot> old;
  for (int i = 0; i < 1000; ++i) {
    const auto passing = tools({tool("read", "R.")});
    const auto seen = a->through(passing);
    if (i == 0) old = seen;
  }
  EXPECT_TRUE(old.expired()) << "what is made of a snapshot goes with it";
}

TEST(Contexts, TakeOverWhatAReloadDidNotChange) {
  const Manifests manifests{{{"a", {.tool_supplements = {{"read", "A"}}}}, {"b", {}}}, {}};
  const auto before = Contexts::make(manifests);
  const auto a = before->lens("a", kEverywhere);
  Manifests other = manifests;
  other.contexts["b"].display_name = "B";
  const auto after = Contexts::make(other, {}, before.get());
  EXPECT_EQ(after->lens("a", kEverywhere), a);
  EXPECT_NE(before->lens("b", kEverywhere), after->lens("b", kEverywhere));
  EXPECT_EQ(after->lens("c", kEverywhere), nullptr);
}

// CTX-19
TEST(Contexts, DescribeThemselves) {
  const auto contexts = Contexts::make({{{"a",
                                          {.display_name = "The \"A\"",
                                           .siblings = {"b"},
                                           .schemas = {"s"},
                                           .example_queries = {{"Revenue", "MATCH n"}}}},
                                         {"b", {}}},
                                        {}});
  const auto lens = contexts->lens("a", kEverywhere);
  EXPECT_EQ(write_context(lens->context(), lens->siblings()),
            R"({"name":"a","display_name":"The \"A\"","endpoint":"/mcp/a",)"
            R"("siblings":[{"name":"b","display_name":"b","endpoint":"/mcp/b"}],"schemas":["s"],)"
            R"("example_queries":[{"title":"Revenue","text":"MATCH n"}]})");
  const auto offered = contexts->resources(UpstreamName("contexts"), {"a", "b", "none"});
  EXPECT_THAT(shown(offered->list(Kind::resource)), ElementsAre("context://a", "context://b"));
  EXPECT_EQ(contexts->resources(UpstreamName("contexts"), {"none"}), nullptr);
}

}  // namespace
}  // namespace proteus::catalog
