#include "catalog/pins/schema_change.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::catalog {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> input(std::string_view before, std::string_view after) {
  return breaking_changes(boost::json::parse(before), boost::json::parse(after), SchemaOf::input);
}

std::vector<std::string> output(std::string_view before, std::string_view after) {
  return breaking_changes(boost::json::parse(before), boost::json::parse(after), SchemaOf::output);
}

// A change that breaks input but is harmless for output. The reverse change breaks output and is harmless for input.
struct OneWay {
  std::string_view wide;
  std::string_view narrow;
  std::string_view reason;  // when input changes from wide to narrow
};

// REF-08
TEST(BreakingChanges, AreNarrowerInputAndWiderOutput) {
  const std::vector<OneWay> cases = {
      {R"({"type":["string","null"]})", R"({"type":"string"})", "type is narrowed"},
      {R"({"type":"number"})", R"({"type":"integer"})", "type is narrowed from \"number\" to \"integer\""},
      {R"({})", R"({"type":"string"})", "from any type"},
      {R"({"enum":["a","b"]})", R"({"enum":["a"]})", "\"b\" is no longer accepted"},
      {R"({"enum":["a","b"]})", R"({"const":"a"})", "\"b\" is no longer accepted"},
      {R"({"type":"string"})", R"({"type":"string","enum":["a"]})", "only certain values"},
      {R"({"minimum":1})", R"({"minimum":2})", "minimum is tightened from 1 to 2"},
      {R"({})", R"({"maxLength":9})", "maxLength 9 is new"},
      {R"({"maximum":9})", R"({"maximum":8})", "maximum is tightened"},
      {R"({"multipleOf":2})", R"({"multipleOf":4})", "multipleOf is tightened"},
      {R"({})", R"({"pattern":"a"})", "pattern is new"},
      {R"({})", R"({"uniqueItems":true})", "unique"},
      {R"({"properties":{"a":{}}})", R"({"properties":{"a":{}},"required":["a"]})", "a is required now"},
      {R"({"properties":{"a":{}}})", R"({"properties":{"a":{}},"additionalProperties":false})", "does not name"},
      {R"({"additionalProperties":true})", R"({"additionalProperties":{"type":"string"}})", "/*: the type"},
      {R"({"additionalProperties":false,"properties":{"a":{},"b":{}}})",
       R"({"additionalProperties":false,"properties":{"a":{}}})", "/b: the property is no longer accepted"},
      {R"({"items":{"type":["string","null"]}})", R"({"items":{"type":"string"}})", "/[]: the type"},
      {R"({"type":"array"})", R"({"type":"array","items":{}})", "items are restricted"},
      {R"({"properties":{"a":{"properties":{"b":{}}}}})", R"({"properties":{"a":{"properties":{"b":false}}}})",
       "/a/b: nothing is accepted"},
      {R"({"anyOf":[{"type":"string"},{"type":"null"}]})", R"({"anyOf":[{"type":"string"}]})", "the alternative"},
      {R"({"anyOf":[{"type":"string"},{"type":"null"}]})", R"({"type":"string"})", "the type is narrowed"},
      {R"({"allOf":[{"minimum":1}]})", R"({"allOf":[{"minimum":2}]})", "minimum"},
      {R"({"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"number"}}})",
       R"({"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"integer"}}})", "/A: the type"},
  };
  for (const auto& [wide, narrow, reason] : cases) {
    EXPECT_THAT(input(wide, narrow), Contains(HasSubstr(reason))) << wide << " to " << narrow;
    EXPECT_THAT(input(narrow, wide), IsEmpty()) << narrow << " to " << wide;
    EXPECT_THAT(output(wide, narrow), IsEmpty()) << wide << " to " << narrow;
    EXPECT_FALSE(output(narrow, wide).empty()) << narrow << " to " << wide;
  }
}

// REF-08
TEST(BreakingChanges, AreNotInAnnotations) {
  EXPECT_THAT(input(R"({"title":"a","properties":{"title":{"description":"x","default":1}}})",
                    R"({"title":"b","properties":{"title":{"description":"y","default":2,"x-order":1}}})"),
              IsEmpty());
  EXPECT_THAT(input(R"({"oneOf":[{"title":"a"}]})", R"({"oneOf":[{"title":"b"}]})"), IsEmpty());
  EXPECT_THAT(input(R"({"properties":{"title":{"type":"string"}}})", R"({"properties":{"title":{"type":"null"}}})"),
              ElementsAre("input /title: the type is narrowed from \"string\" to \"null\""));
  EXPECT_FALSE(input(R"({"enum":[{"title":"a"}]})", R"({"enum":[{"title":"b"}]})").empty());
}

// REF-08
TEST(BreakingChanges, AreNotHiddenInAnnotationsThatAReferenceLeadsTo) {
  for (const char* place : {"x-defs", "examples", "default"}) {
    const auto schema = [&](const char* type) {
      return fmt::format(R"({{"$ref":"#/{0}/A","{0}":{{"A":{{"type":"{1}"}}}}}})", place, type);
    };
    EXPECT_TRUE(input(schema("string"), schema("string")).empty()) << place;
    EXPECT_FALSE(input(schema("string"), schema("integer")).empty()) << place;
  }
  EXPECT_FALSE(
      input(R"({"$ref":"#/x%2Ddefs","x-defs":{}})", R"({"$ref":"#/x%2Ddefs","x-defs":{"type":"null"}})").empty());
}

TEST(BreakingChanges, LetOptionalPropertiesComeAndTheirRemovalCount) {
  EXPECT_THAT(input(R"({"properties":{}})", R"({"properties":{"a":{"type":"string"}}})"), IsEmpty());
  EXPECT_THAT(input(R"({"properties":{"a":{}}})", R"({"properties":{}})"),
              ElementsAre("input /a: the property was removed"));
  EXPECT_THAT(input(R"({"additionalProperties":{"type":"string"}})",
                    R"({"additionalProperties":{"type":"string"},"properties":{"a":{"type":"null"}}})"),
              ElementsAre(HasSubstr("/a: the type is narrowed")));
  EXPECT_THAT(output(R"({"properties":{"a":{}}})", R"({"properties":{}})"), IsEmpty());
  EXPECT_THAT(output(R"({"properties":{"a":{}},"required":["a"]})", R"({"properties":{"a":{}}})"),
              ElementsAre("output: a may be missing now"));
  EXPECT_THAT(output(R"({"properties":{},"additionalProperties":false})",
                     R"({"properties":{"a":{}},"additionalProperties":false})"),
              ElementsAre(HasSubstr("may come now, and was excluded")));
  EXPECT_THAT(output(R"({"properties":{},"unevaluatedProperties":false})",
                     R"({"properties":{"a":{}},"unevaluatedProperties":false})"),
              ElementsAre(HasSubstr("was excluded")));
}

// REF-08
TEST(BreakingChanges, AreAssumedWhereNothingElseCanBeShown) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {R"({"not":{"type":"string"}})", R"({})"},
      {R"({"oneOf":[{"type":"string"}]})", R"({"oneOf":[{"type":"string"},{"type":"null"}]})"},
      {R"({"if":{"minimum":1}})", R"({"if":{"minimum":2}})"},
      {R"({"$ref":"#/$defs/A","$defs":{"A":{},"B":{}}})", R"({"$ref":"#/$defs/B","$defs":{"A":{},"B":{}}})"},
      {R"({"minimum":1})", R"({"minimum":"2"})"},
      {R"({"items":[{}]})", R"({"items":[{},{}]})"},
      {R"({"madeUp":1})", R"({"madeUp":2})"},
      {R"({"$schema":"a"})", R"({"$schema":"b"})"},
      {R"({"not":{"$ref":"#/$defs/A"},"$defs":{"A":{"minimum":2}}})",
       R"({"not":{"$ref":"#/$defs/A"},"$defs":{"A":{"minimum":1}}})"},
      {R"({"patternProperties":{"a":{}}})", R"({"patternProperties":{"b":{}}})"},
  };
  for (const auto& [before, after] : cases)
    EXPECT_THAT(input(before, after), Contains(HasSubstr("cannot be shown to be compatible"))) << before;
}

TEST(BreakingChanges, IncludeAnotherHeaderForAParameter) {
  EXPECT_FALSE(input(R"({"x-mcp-header":"A"})", R"({"x-mcp-header":"B"})").empty());
  EXPECT_FALSE(input(R"({"x-mcp-header":"A"})", R"({})").empty());
}

TEST(BreakingChanges, AllowAnAlternativeMore) {
  EXPECT_THAT(input(R"({"type":"string","title":"A"})", R"({"anyOf":[{"type":"string"},{"type":"null"}]})"), IsEmpty());
  EXPECT_THAT(input(R"({"anyOf":[{"type":"string"}]})", R"({"anyOf":[{"type":"integer"},{"type":["string","null"]}]})"),
              IsEmpty());
}

// Alternatives within alternatives would take forever.
TEST(BreakingChanges, AreAssumedWhereTheComparisonTakesTooLong) {
  std::string before = "{}";
  std::string after = R"({"type":"string"})";
  for (int depth = 0; depth < 10; ++depth) {
    std::string wider = R"({"anyOf":[)";
    std::string narrower = wider;
    for (int i = 0; i < 3; ++i) {
      wider +=
          fmt::format(R"({}{{"minimum":{},"items":{}}})", i > 0 ? "," : "", i, depth < 7 || i == 0 ? before : "{}");
      narrower +=
          fmt::format(R"({}{{"minimum":{},"items":{}}})", i > 0 ? "," : "", i, depth < 7 || i == 0 ? after : "{}");
    }
    before = wider + "]}";
    after = narrower + "]}";
  }
  EXPECT_THAT(input(before, after), ElementsAre(HasSubstr("too large to be compared")));
}

// SEC-04: few pairs of schemas, each of which takes long to compare.
TEST(BreakingChanges, AreAssumedWhereTooMuchIsLookedAt) {
  std::string names;
  for (int i = 0; i < 20'000; ++i)
    names += fmt::format(R"({}"p{}")", i > 0 ? "," : "", i);
  const std::string before = fmt::format(R"({{"required":[{}]}})", names);
  std::string after = R"({"type":"string"})";
  for (int depth = 0; depth < 2; ++depth) {
    std::string wider = R"({"anyOf":[)";
    for (int i = 0; i < 60; ++i)
      wider += (i > 0 ? "," : "") + after;
    after = wider + "]}";
  }
  EXPECT_THAT(input(before, after), ElementsAre(HasSubstr("too large to be compared")));
  EXPECT_THAT(input(after, before), Not(Contains(HasSubstr("too large to be compared"))));
}

// Equal parts are charged once, not once for each level above them.
TEST(BreakingChanges, AreFoundInALargeSchema) {
  std::string before = "{}";
  std::string after = R"({"type":"string"})";
  std::string same;
  for (int i = 0; i < 2'000; ++i)
    same += fmt::format(R"(,"p{}":{{"type":"array","items":{{"enum":["a{}","b","c"]}}}})", i, i);
  for (int depth = 0; depth < 4; ++depth) {
    before = fmt::format(R"({{"properties":{{"x":{}{}}}}})", before, same);
    after = fmt::format(R"({{"properties":{{"x":{}{}}}}})", after, same);
  }
  EXPECT_THAT(input(before, after), ElementsAre(HasSubstr("input /x/x/x/x: the type is narrowed")));
}

}  // namespace
}  // namespace proteus::catalog
