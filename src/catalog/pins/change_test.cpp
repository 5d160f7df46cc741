#include "catalog/pins/change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/testing/test_support.hpp"

namespace proteus::catalog {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::list_of;
using testing::snapshot;
using testing::tool;

ChangedDefinition changed(Kind kind, const std::string& before, const std::string& after) {
  const auto old = list_of(kind, {before});
  const auto now = list_of(kind, {after});
  EXPECT_EQ(old->omitted() + now->omitted(), 0U);
  return compare(kind, (*old)[0], (*now)[0]);
}

ChangedDefinition with_hints(std::string_view before, std::string_view after) {
  const auto text = [](std::string_view hints) {
    return fmt::format(R"({{"name":"t","inputSchema":{{"type":"object"}},"annotations":{}}})", hints);
  };
  return changed(Kind::tool, text(before), text(after));
}

// REF-08 REF-21
TEST(Diff, NamesWhatCameWentAndChanged) {
  const auto before = snapshot("u", 1, {.tools = {tool("a"), tool("b"), tool("c")}, .resources = {}, .templates = {}});
  const auto after = snapshot("u", 2,
                              {.tools = {tool("d"), tool("b", "other"), tool("c")},
                               .resources = {testing::resource("x://y")},
                               .templates = {}});
  const Change change = diff(before.get(), after.get());
  EXPECT_EQ(change.upstream.value(), "u");
  EXPECT_THAT(change.kinds[Kind::tool].added, ElementsAre("d"));
  EXPECT_THAT(change.kinds[Kind::tool].removed, ElementsAre("a"));
  ASSERT_EQ(change.kinds[Kind::tool].changed.size(), 1U);
  EXPECT_EQ(change.kinds[Kind::tool].changed[0].name, "b");
  EXPECT_EQ(change.kinds[Kind::tool].changed[0].compatibility, Compatibility::compatible);
  EXPECT_THAT(change.kinds[Kind::tool].changed[0].reasons, ElementsAre("description changed"));
  EXPECT_THAT(change.kinds[Kind::resource].added, ElementsAre("x://y"));
  EXPECT_TRUE(change.which().has(Kind::tool));
  EXPECT_TRUE(change.which().has(Kind::resource));
  EXPECT_FALSE(change.which().has(Kind::prompt));
}

// REF-06
TEST(Diff, IsEmptyWhereOnlyTheOrderOrTheWritingChanged) {
  const auto before = snapshot("u", 1, {.tools = {tool("a"), tool("b")}, .resources = {}, .templates = {}});
  const auto after = snapshot(
      "u", 2,
      {.tools = {tool("b"), R"({"inputSchema": {"type":"object"}, "description":"does something", "name":"\u0061"})"},
       .resources = {},
       .templates = {}});
  EXPECT_TRUE(diff(before.get(), after.get()).empty());
}

TEST(Diff, TakesNoSnapshotForAnEmptyOne) {
  const auto one = snapshot("u", 1, {.tools = {tool("a")}, .resources = {}, .templates = {}});
  EXPECT_THAT(diff(nullptr, one.get()).kinds[Kind::tool].added, ElementsAre("a"));
  EXPECT_THAT(diff(one.get(), nullptr).kinds[Kind::tool].removed, ElementsAre("a"));
  EXPECT_TRUE(diff(nullptr, nullptr).empty());
}

// An upstream decides how many names there are, and a change is passed on to several threads. SEC-03
TEST(Change, SharesItsNamesWithItsCopies) {
  const auto one = snapshot("u", 1, {.tools = {tool("a")}, .resources = {}, .templates = {}});
  const Change change = diff(nullptr, one.get());
  const Change copy = change;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(&copy.kinds[Kind::tool], &change.kinds[Kind::tool]);
}

// REF-08
TEST(Compare, CallsToolsByTheirSchemas) {
  const auto text = [](std::string_view input, std::string_view output) {
    return fmt::format(R"({{"name":"t","inputSchema":{}{}}})", input, output);
  };
  const auto narrower = changed(Kind::tool, text(R"({"type":"object"})", ""),
                                text(R"({"type":"object","required":["a"],"properties":{"a":{}}})", ""));
  EXPECT_EQ(narrower.compatibility, Compatibility::breaking);
  EXPECT_THAT(narrower.reasons, ElementsAre("input: a is required now", "inputSchema changed"));
  const auto undescribed = changed(Kind::tool, text(R"({"type":"object"})", R"(,"outputSchema":{"type":"object"})"),
                                   text(R"({"type":"object"})", ""));
  EXPECT_EQ(undescribed.compatibility, Compatibility::breaking);
  const auto described = changed(Kind::tool, text(R"({"type":"object"})", ""),
                                 text(R"({"type":"object"})", R"(,"outputSchema":{"type":"object"})"));
  EXPECT_EQ(described.compatibility, Compatibility::compatible);
  EXPECT_THAT(described.reasons, ElementsAre("outputSchema is new"));
}

// REF-08
TEST(Compare, CallsAWithdrawnPromiseBreaking) {
  const auto withdrawn = with_hints(R"({"readOnlyHint":true})", "{}");
  EXPECT_EQ(withdrawn.compatibility, Compatibility::breaking);
  EXPECT_THAT(withdrawn.reasons, Contains(HasSubstr("only read")));
  EXPECT_EQ(with_hints("{}", R"({"readOnlyHint":true})").compatibility, Compatibility::compatible);
  EXPECT_EQ(with_hints(R"({"destructiveHint":false})", R"({"destructiveHint":true})").compatibility,
            Compatibility::breaking);
  EXPECT_EQ(with_hints(R"({"destructiveHint":false})", R"({"readOnlyHint":true})").compatibility,
            Compatibility::compatible);
  EXPECT_EQ(with_hints(R"({"idempotentHint":true})", "{}").compatibility, Compatibility::breaking);
  EXPECT_EQ(with_hints(R"({"openWorldHint":false})", "{}").compatibility, Compatibility::breaking);
  EXPECT_EQ(with_hints(R"({"title":"a"})", R"({"title":"b"})").compatibility, Compatibility::compatible);
}

// A client that runs a tool as a task does not expect that to end.
TEST(Compare, CallsAnotherWayOfRunningBreaking) {
  const auto of = [](std::string_view execution) {
    return fmt::format(R"({{"name":"t","inputSchema":{{"type":"object"}}{}}})", execution);
  };
  const auto way = [&](std::string_view before, std::string_view after) {
    return changed(Kind::tool, of(before), of(after)).compatibility;
  };
  const auto* const none = "";
  const auto* const optional = R"(,"execution":{"taskSupport":"optional"})";
  const auto* const forbidden = R"(,"execution":{"taskSupport":"forbidden"})";
  EXPECT_EQ(way(optional, none), Compatibility::breaking);
  EXPECT_EQ(way(none, optional), Compatibility::breaking);
  EXPECT_EQ(way(optional, forbidden), Compatibility::breaking);
  EXPECT_EQ(way(none, forbidden), Compatibility::compatible);
  EXPECT_EQ(way(forbidden, none), Compatibility::compatible);
}

// REF-07 REF-08
TEST(Compare, CallsPromptsByTheirArguments) {
  const auto text = [](std::string_view arguments) {
    return fmt::format(R"({{"name":"p","arguments":{}}})", arguments);
  };
  const auto compatibility = [&](std::string_view before, std::string_view after) {
    return changed(Kind::prompt, text(before), text(after)).compatibility;
  };
  EXPECT_EQ(compatibility("[]", R"([{"name":"a"}])"), Compatibility::compatible);
  EXPECT_EQ(compatibility("[]", R"([{"name":"a","required":true}])"), Compatibility::breaking);
  EXPECT_EQ(compatibility(R"([{"name":"a"}])", R"([{"name":"a","required":true}])"), Compatibility::breaking);
  EXPECT_EQ(compatibility(R"([{"name":"a"}])", "[]"), Compatibility::breaking);
  EXPECT_EQ(compatibility(R"([{"name":"a","required":true}])", R"([{"name":"a"}])"), Compatibility::compatible);
}

// REF-07 REF-08
TEST(Compare, CallsResourcesByTheirType) {
  const auto text = [](std::string_view type) { return fmt::format(R"({{"uri":"x://y","name":"r"{}}})", type); };
  EXPECT_EQ(changed(Kind::resource, text(R"(,"mimeType":"a/b")"), text("")).compatibility, Compatibility::breaking);
  EXPECT_EQ(changed(Kind::resource, text(""), text(R"(,"mimeType":"a/b")")).compatibility, Compatibility::compatible);
  EXPECT_EQ(changed(Kind::resource, text(""), text(R"(,"size":7)")).compatibility, Compatibility::compatible);
}

// REF-08
TEST(WriteChange, HasTheShapeOfARefreshResult) {
  const auto before = snapshot("u", 1, {.tools = {tool("a"), tool("b")}, .resources = {}, .templates = {}});
  const auto after = snapshot("u", 2, {.tools = {tool("b", "x"), tool("c")}, .resources = {}, .templates = {}});
  EXPECT_EQ(write_change(diff(before.get(), after.get())),
            R"("tools":{"added":["c"],"removed":["a"],"changed":[)"
            R"({"name":"b","breaking":false,"reasons":["description changed"]}]},)"
            R"("prompts":{"added":[],"removed":[],"changed":[]},)"
            R"("resources":{"added":[],"removed":[],"changed":[]},)"
            R"("resource_templates":{"added":[],"removed":[],"changed":[]})");
}

}  // namespace
}  // namespace proteus::catalog
