#include "gateway/search/signature.hpp"

#include <gmock/gmock.h>

#include "json/text.hpp"

// SRC-03: an agent can call a tool by its signature.
namespace proteus::gateway {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string written(std::string_view schema) { return signature_of("tool", json::parse(schema).value()); }

TEST(Signature, HasRequiredParametersFirst) {
  EXPECT_EQ(written(R"({"type":"object","properties":{"limit":{"type":"integer","default":20},"owner":{"type":"string"},
    "all":{"type":"boolean"}},"required":["owner"]})"),
            "tool(owner: string, limit?: integer = 20, all?: boolean)");
}

TEST(Signature, ShowsChoicesListsAndObjects) {
  EXPECT_EQ(
      written(R"({"properties":{"state":{"enum":["open","closed"],"default":"open"},"ids":{"type":"array",
    "items":{"type":"integer"}},"kinds":{"type":"array","items":{"enum":["a","b"]}},"at":{"type":"object","properties":{
    "x":{"type":"number"},"y":{"type":"number"}},"required":["x"]},"free":{"type":"object"}}})"),
      R"(tool(state?: "open"|"closed" = "open", ids?: integer[], kinds?: ("a"|"b")[], at?: {x: number, y?: number}, free?: object))");
}

TEST(Signature, UnitesAlternativesAndFollowsReferences) {
  EXPECT_EQ(written(R"({"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"type":["string","null"]},
    "c":{"$ref":"#/$defs/color"},"d":{"const":1},"e":{},"f":true},"$defs":{"color":{"enum":["red"],"default":"red"}}})"),
            R"(tool(a?: string|null, b?: string|null, c?: "red" = "red", d?: 1, e?: any, f?: any))");
}

TEST(Signature, IsEmptyWhereThereIsNothingToSend) {
  EXPECT_EQ(written(R"({"type":"object"})"), "tool()");
  EXPECT_EQ(written("true"), "tool()");
}

// SRC-09: for any schema.
TEST(Signature, IsBounded) {
  std::string many;
  for (int i = 0; i < 4'000; ++i)
    many += std::string(i == 0 ? "" : ",") + "\"p" + std::to_string(i) + R"(":{"$ref":"#/$defs/x"})";
  const std::string schema = R"({"properties":{)" + many + R"(},"$defs":{"x":{"properties":{)" + many + "}}}}";
  EXPECT_LT(written(schema).size(), 2000U);
  EXPECT_THAT(written(schema), EndsWith(", …)"));
  EXPECT_THAT(written(R"({"properties":{"a":{"$ref":"#/properties/a"}}})"), HasSubstr("a?: any"));
  EXPECT_THAT(written(R"({"properties":{"a":{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}}})"),
              HasSubstr("a?: {a?: {a?: object}}"));
  EXPECT_LT(written(R"({"properties":{"a":{"enum":[")" + std::string(100'000, 'x') + R"("]}}})").size(), 200U);
}

// SRC-09: a reference that is short may lead to one that is long.
TEST(Signature, FollowsLongReferencesForAWhileOnly) {
  const std::string key(50'000, 'k');
  std::string many = R"({"$ref":"#/$defs/x"})";
  for (int i = 0; i < 5000; ++i)
    many += R"(,{"$ref":"#/$defs/x"})";
  EXPECT_EQ(written(R"({"properties":{"a":{"anyOf":[)" + many + R"(]}},"$defs":{"x":{"$ref":"#/$defs/)" + key +
                    R"("},")" + key + R"(":{"type":"string"}}})"),
            "tool(a?: string|any)");
}

TEST(Brief, EndsWithASentence) {
  EXPECT_EQ(brief("Reads a file. Then it\n\n  returns it.", 100), "Reads a file. Then it returns it.");
  EXPECT_EQ(brief("Reads a file. Returns it. And much more than fits.", 30), "Reads a file. Returns it.");
  EXPECT_EQ(brief("Reads a file with a name that is very long", 20), "Reads a file with a…");
  EXPECT_EQ(brief("读取文件。返回内容。然后还有更多的内容", 30), "读取文件。返回内容。");
}

// A description can neither look like another hit nor hide anything.
TEST(Brief, IsOneVisibleLine) {
  const std::string text = brief(
      "One\nother_tool() [admin]\x1b[31m \xE2\x80\xAE"
      "end \xFF");
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("\\u{202e}"));
}

TEST(Brief, TakesLittleTimeForLongTexts) {
  EXPECT_LE(brief(std::string(1U << 20U, 'x')).size(), 260U);
  EXPECT_LE(brief(std::string(1U << 20U, ' ')).size(), 0U);
}

}  // namespace
}  // namespace proteus::gateway
