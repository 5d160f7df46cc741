#include "catalog/shape/shape.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "catalog/shape/shaped_tool.hpp"
#include "catalog/testing/test_support.hpp"

namespace proteus::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::list_of;
using testing::shown;
using ::testing::SizeIs;
using testing::tool;

constexpr std::string_view kSearch =
    R"({"name":"search","x-more":1.50,"description":"Finds.","inputSchema":{"type":"object","properties":)"
    R"({"tenant":{"type":"string","x-mcp-header":"Tenant"},"q":{"type":"string","x-mcp-header":"Query"},)"
    R"("limit":{"type":"integer","maximum":1e2}},"required":["tenant","q","limit"]}})";

Shape::Shaped shape_of(const std::vector<std::string>& raw, std::vector<ToolShape> shapes,
                       const NameRules& rules = {}) {
  return Shape(std::move(shapes)).apply(list_of(Kind::tool, raw, rules), {}).value();
}

boost::json::value only_tool(const Shape::Shaped& shaped) {
  return json::parse(shaped.list->definitions().front().text).value();
}

// SHP-01
TEST(ToolShapes, RenameTitleDescribeAndHide) {
  const auto shaped = shape_of({tool("a"), tool("b"), tool("c")},
                               {{.match = {"*"}, .append = "Ask first."},
                                {.match = {"a"}, .rename = "alpha", .title = "Alpha", .description = "Does A."},
                                {.match = {"b"}, .hidden = true}},
                               {.prefix = "up_", .style = NameStyle::as_is});
  EXPECT_THAT(shown(*shaped.list), ElementsAre("up_alpha", "up_c"));
  const Definition* const alpha = shaped.list->find("up_alpha");
  EXPECT_EQ(alpha->own, "a");
  const auto text = json::parse(alpha->text).value();
  EXPECT_EQ(text.at("name"), "up_alpha");
  EXPECT_EQ(text.at("title"), "Alpha");
  EXPECT_EQ(text.at("description"), "Does A.\n\nAsk first.");
  EXPECT_EQ(json::parse(shaped.list->find("up_c")->text).value().at("description"), "does something\n\nAsk first.");
  EXPECT_EQ(shaped.list->find("up_a"), nullptr) << "it is not called that any more";
  EXPECT_THAT(shaped.report.fitted, ElementsAre(3, 1, 1));
  EXPECT_EQ(shaped.report.hidden, 1U);
  EXPECT_THAT(shaped.report.warnings, IsEmpty());
}

// SHP-01: the last shape that sets something counts.
TEST(ToolShapes, TakeEachThingFromTheLastThatSaysIt) {
  const auto shaped = shape_of({tool("a"), tool("b")}, {{.match = {"*"}, .title = "One", .hidden = true},
                                                        {.match = {"b"}, .title = "Two", .hidden = false}});
  EXPECT_THAT(shown(*shaped.list), ElementsAre("b"));
  EXPECT_EQ(only_tool(shaped).at("title"), "Two");
}

TEST(ToolShapes, LeaveAListAloneThatTheyDoNotFit) {
  const auto list = list_of(Kind::tool, {tool("a")});
  const auto prompts = list_of(Kind::prompt, {R"({"name":"a"})"});
  const Shape shape({{.match = {"a"}}, {.match = {"x*"}, .title = "X"}});
  EXPECT_EQ(shape.apply(list, {}).value().list, list) << "the first says nothing";
  EXPECT_EQ(shape.apply(prompts, {}).value().list, prompts);
}

// SHP-06
TEST(ToolShapes, WarnWhereOneFitsNothing) {
  const auto shaped = shape_of(
      {tool("a")},
      {{.match = {"a"}, .title = "A"}, {.match = {"delete_*", "drop"}, .hidden = true}, {.match = {"prompt:x"}}});
  EXPECT_THAT(shaped.report.warnings, ElementsAre("tools[1] fits no tool: delete_*, drop"));
}

// SHP-01: names stay distinct, whichever tool wants which name.
TEST(ToolShapes, LetTheToolThatHasANameKeepIt) {
  const auto clash =
      shape_of({tool("a"), tool("b"), tool("c")}, {{.match = {"a"}, .rename = "b"}, {.match = {"c"}, .rename = "a"}});
  EXPECT_THAT(shown(*clash.list), ElementsAre("a", "b", "c")) << "c cannot become a, which stays";
  EXPECT_THAT(clash.report.warnings, SizeIs(2));
  EXPECT_THAT(clash.report.warnings.front(), HasSubstr("a keeps its name: another tool is called b"));

  const auto swapped =
      shape_of({tool("a"), tool("b")}, {{.match = {"a"}, .rename = "b"}, {.match = {"b"}, .rename = "a"}});
  EXPECT_EQ(swapped.list->find("a")->own, "b");
  EXPECT_EQ(swapped.list->find("b")->own, "a");
  EXPECT_THAT(swapped.report.warnings, IsEmpty());

  const auto hidden =
      shape_of({tool("a"), tool("b")}, {{.match = {"a"}, .rename = "b"}, {.match = {"b"}, .hidden = true}});
  EXPECT_EQ(hidden.list->find("b")->own, "a");
}

// NAM: in a portable list, a tool that is not renamed keeps its alias, and a renamed tool loses it.
TEST(ToolShapes, ForgetTheOldNameInAPortableList) {
  const auto shaped = shape_of({tool("a.b"), tool("c.d")}, {{.match = {"a.b"}, .rename = "ab"}},
                               {.prefix = "up_", .style = NameStyle::portable});
  EXPECT_THAT(shown(*shaped.list), ElementsAre("up_ab", "up_c_d"));
  EXPECT_EQ(shaped.list->find_alias("up_a.b", name_hash("up_a.b")), nullptr);
  EXPECT_NE(shaped.list->find_alias("up_c.d", name_hash("up_c.d")), nullptr);
}

// SHP-02
TEST(ToolShapes, TakeFixedArgumentsOutAndPutDefaultsIn) {
  const auto shaped =
      shape_of({std::string(kSearch)},
               {{.match = {"search"}, .fixed = {{"tenant", R"("acme")"}}, .defaults = {{"limit", "20"}}}});
  const Definition& definition = shaped.list->definitions().front();
  EXPECT_EQ(definition.text,
            R"({"name":"search","x-more":1.50,"description":"Finds.","inputSchema":{"type":"object","properties":)"
            R"({"q":{"type":"string","x-mcp-header":"Query"},"limit":{"type":"integer","maximum":1e2,"default":20}},)"
            R"("required":["q"]}})");
  ASSERT_NE(definition.mirrored, nullptr);
  EXPECT_THAT(*definition.mirrored, SizeIs(1)) << "callers send the header of what they send";
  ASSERT_NE(definition.shaped, nullptr);
  EXPECT_THAT(definition.shaped->mirrored, SizeIs(2)) << "and the gateway those of all";
}

// SHP-01
TEST(ToolShapes, CompleteCallsWithoutTouchingTheCallersBytes) {
  const auto shaped =
      shape_of({std::string(kSearch)},
               {{.match = {"search"}, .fixed = {{"tenant", R"("acme")"}}, .defaults = {{"limit", "20"}}}});
  const ShapedTool& calls = *shaped.list->definitions().front().shaped;
  EXPECT_EQ(calls.complete(R"({"q": "\u00e9"})").value(), R"({"q": "\u00e9","limit":20,"tenant":"acme"})");
  EXPECT_EQ(calls.complete(R"({"limit":1e1,"q":"x"})").value(), R"({"limit":1e1,"q":"x","tenant":"acme"})");
  EXPECT_EQ(calls.with_defaults(R"({"q":"x"})").value(), R"({"q":"x","limit":20})");
  for (const auto given : {R"({"q":"x","tenant":"acme"})", R"({"q":"x","\u0074enant":"evil"})"})
    EXPECT_THAT(calls.complete(given).error().message(), HasSubstr("tenant is not overridable")) << given;
  for (const auto given : {R"({"q":1})", "{}", "", "[]", R"({"q":"x","limit":1000})", R"({"q":"a","q":"b"})"})
    EXPECT_FALSE(calls.complete(given)) << given;
}

// SHP-02: more faults than are listed are faults all the same.
TEST(ToolShapes, RefuseACallHoweverManyOfItsArgumentsAreWrong) {
  const auto shaped = shape_of({R"({"name":"t","inputSchema":{"type":"object","properties":{"tenant":{}},)"
                                R"("additionalProperties":{"type":"string"}}})"},
                               {{.match = {"t"}, .fixed = {{"tenant", R"("acme")"}}}});
  const ShapedTool& calls = *shaped.list->definitions().front().shaped;
  std::string wrong = "{";
  for (int i = 0; i < 100; ++i) {
    wrong += fmt::format(R"({}"a{}":{})", i == 0 ? "" : ",", i, i);
    EXPECT_FALSE(calls.complete(wrong + "}")) << wrong;
  }
}

// SHP-02: a tool without a true schema is left out.
TEST(ToolShapes, LeaveOutWhatNoTrueSchemaCanBeMadeOf) {
  const auto with = [](std::string_view more) {
    return fmt::format(R"({{"name":"t","inputSchema":{{"type":"object","properties":{{"a":{{"type":"string"}}}}{}}}}})",
                       more);
  };
  for (const auto more :
       {R"(,"anyOf":[{"required":["a"]},{"required":["b"]}])", R"(,"minProperties":1)", R"(,"$ref":"#/$defs/x")",
        R"(,"dependentRequired":{"b":["a"]})", R"(,"if":{"properties":{"a":{"const":"x"}}},"then":{"required":["c"]})",
        R"(,"allOf":[{"additionalProperties":false}])", R"(,"enum":[{}])"}) {
    const auto shaped = shape_of({with(more)}, {{.match = {"t"}, .fixed = {{"a", R"("x")"}}}});
    EXPECT_EQ(shaped.list->size(), 0U) << more;
    ASSERT_THAT(shaped.report.omissions, SizeIs(1)) << more;
    EXPECT_THAT(shaped.report.omissions.front().reason, HasSubstr("inputSchema uses")) << more;
  }
  for (const auto more : {R"(,"anyOf":[{"required":["b"]},{"properties":{"b":{"const":{"a":1}}}}])",
                          R"(,"dependentRequired":{"b":["c"]})", R"(,"additionalProperties":false)"}) {
    const auto shaped = shape_of({with(more)}, {{.match = {"t"}, .fixed = {{"a", R"("x")"}}}});
    EXPECT_EQ(shaped.list->size(), 1U) << more;
  }
}

// SHP-02
TEST(ToolShapes, LeaveOutAToolThatTheirValuesDoNotFit) {
  const std::string closed =
      R"({"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}})";
  for (const ArgumentValues& values : {ArgumentValues{{"n", R"("x")"}}, ArgumentValues{{"unknown", "1"}}}) {
    EXPECT_EQ(shape_of({closed}, {{.match = {"t"}, .fixed = values}}).report.omissions.size(), 1U);
    EXPECT_EQ(shape_of({closed}, {{.match = {"t"}, .defaults = values}}).report.omissions.size(), 1U);
  }
}

// SHP-04: a tool without hints may destroy.
TEST(ToolShapes, TellWhichCallsAreConfirmed) {
  const auto asks = [](std::string_view annotations, Confirm confirm) {
    const auto shaped = shape_of({fmt::format(R"({{"name":"t","inputSchema":{{"type":"object"}}{}}})", annotations)},
                                 {{.match = {"t"}, .confirm = confirm}});
    const auto* const calls = shaped.list->definitions().front().shaped;
    return calls != nullptr && calls->asks;
  };
  constexpr std::string_view kReads = R"(,"annotations":{"readOnlyHint":true})";
  constexpr std::string_view kAdds = R"(,"annotations":{"destructiveHint":false})";
  EXPECT_TRUE(asks("", Confirm::destructive));
  EXPECT_FALSE(asks(kReads, Confirm::destructive));
  EXPECT_FALSE(asks(kAdds, Confirm::destructive));
  EXPECT_TRUE(asks(kReads, Confirm::always));
  EXPECT_FALSE(asks("", Confirm::never));
}

// SHP-01: another fixed value makes other calls, though callers see the same definition.
TEST(ToolShapes, ArePublishedWhereOnlyTheirValuesAreOthers) {
  Catalog catalog;
  ASSERT_TRUE(catalog.set_order(testing::names({"up"})));
  const auto publish = [&](std::uint64_t version, std::string value) {
    Snapshot::Lists lists;
    lists[Kind::tool] =
        shape_of({std::string(kSearch)}, {{.match = {"search"}, .fixed = {{"tenant", std::move(value)}}}}).list;
    return catalog.publish(std::make_shared<const Snapshot>(UpstreamName("up"), version, std::move(lists))).value();
  };
  publish(1, R"("acme")");
  EXPECT_THAT(publish(2, R"("other")").changes, IsEmpty()) << "nobody need be told";
  const auto served = catalog.current()->find(UpstreamName("up"));
  EXPECT_EQ(served->list(Kind::tool).definitions().front().shaped->fixed.at("tenant"), R"("other")");
}

}  // namespace
}  // namespace proteus::catalog
