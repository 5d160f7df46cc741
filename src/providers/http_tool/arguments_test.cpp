#include "providers/http_tool/arguments.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "providers/http_tool/http_tool_reader.hpp"

namespace proteus::providers {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Arguments : public testing::Test {
 protected:
  HttpToolPointer tool(std::string_view schema, std::string_view members = {}) {
    const std::string text = fmt::format(
        R"({{"name":"t","description":"d","url":"http://example.com/","inputSchema":{}{}}})", schema, members);
    auto outcome = read_http_tool(text, schemas_, {});
    return std::get<ReadTool>(outcome).tool;
  }
  static std::string sent(const HttpToolPointer& tool, std::string_view raw) {
    const auto checked = CheckedArguments::check(*tool, raw);
    return checked ? std::string(checked->members()) : checked.error();
  }

  SharedSchemas schemas_;
};

constexpr std::string_view kAllTypes = R"({"type":"object","properties":{"s":{"type":"string"},"i":{"type":"integer"},
  "n":{"type":"number"},"b":{"type":"boolean"},"a":{"type":"array","items":{"type":"string"}},"o":{"type":"object"},
  "z":{"type":["string","null"]}},"required":["s"]})";

// SES-07
TEST_F(Arguments, OfAllTypesGoOnAsTheyWereWritten) {
  const auto all = R"({ "s":"x","i":12345678901234567890123,"n":1.50,"b":false,"a":["\u00e9"],"o":{"k":{}} })";
  EXPECT_EQ(sent(tool(kAllTypes), all),
            R"("s":"x","i":12345678901234567890123,"n":1.50,"b":false,"a":["\u00e9"],"o":{"k":{}})");
  EXPECT_EQ(sent(tool(R"({"type":"object"})"), ""), "");
  EXPECT_EQ(sent(tool(R"({"type":"object"})"), "{ }"), "");
}

// SES-07
TEST_F(Arguments, ThatAreNullCountAsLeftOutUnlessTheyMayBe) {
  EXPECT_EQ(sent(tool(kAllTypes), R"({"s":"x","i":null,"b":null})"), R"("s":"x")");
  EXPECT_EQ(sent(tool(kAllTypes), R"({"s":"x","z":null,"i":null})"), R"("s":"x","z":null)");
  EXPECT_THAT(sent(tool(kAllTypes), R"({"s":null})"), AllOf(HasSubstr("Invalid arguments"), HasSubstr("s")));
  EXPECT_EQ(sent(tool(R"({"type":"object","properties":{"a":{"type":"string"}}})"), R"({"a":null})"), "");
  EXPECT_THAT(sent(tool(kAllTypes), R"({"s":"x","unknown":null})"), HasSubstr("unknown"));
  std::string properties;
  std::string nulls;
  for (int i = 0; i < 100; ++i) {
    properties += fmt::format(R"({}"p{}":{{"type":"string"}})", i == 0 ? "" : ",", i);
    nulls += fmt::format(R"({}"p{}":null)", i == 0 ? "" : ",", i);
  }
  EXPECT_EQ(sent(tool(fmt::format(R"({{"type":"object","properties":{{{}}}}})", properties)), "{" + nulls + "}"), "");
}

// SES-07: what stands next to a null is forwarded as it was written
TEST_F(Arguments, KeepTheirBytesBesideANullThatIsLeftOut) {
  const auto open = tool(R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},)"
                         R"("additionalProperties":true})");
  EXPECT_EQ(sent(open, R"({"a":null, "n":12345678901234567890123, "x":1.50 ,"b" : null,"s":"\u00e9" })"),
            R"("n":12345678901234567890123, "x":1.50,"s":"\u00e9")");
  EXPECT_EQ(sent(open, R"({ "n":1e400,"\u0061":null })"), R"("n":1e400)");
  EXPECT_EQ(sent(open, R"({"a":null,"b":null})"), "");
}

// A validation lists as many errors as there are nulls, so the number of nulls does not multiply the work.
TEST_F(Arguments, WithManyNullsAreCheckedInOneGo) {
  const auto strings = tool(R"({"type":"object","additionalProperties":{"type":"string"}})");
  const auto with_nulls = [](std::size_t count) {
    std::string text = R"({"kept":"x")";
    for (std::size_t i = 0; i < count; ++i)
      text += fmt::format(R"(,"p{}":null)", i);
    return text + "}";
  };
  EXPECT_EQ(sent(strings, with_nulls(5'000)), R"("kept":"x")");
  EXPECT_THAT(sent(strings, with_nulls(300'000)), HasSubstr("members of large objects is over the limit"));
}

// SES-08
TEST_F(Arguments, ThatAreMissingMistypedOrUnknownAreExplained) {
  EXPECT_THAT(sent(tool(kAllTypes), "{}"), AllOf(HasSubstr("Invalid arguments"), HasSubstr("\"s\"")));
  EXPECT_THAT(sent(tool(kAllTypes), R"({"s":"x","i":"four"})"), AllOf(HasSubstr("/i"), HasSubstr("integer")));
  EXPECT_THAT(sent(tool(kAllTypes), R"({"s":"x","a":[1]})"), HasSubstr("/a/0"));
  EXPECT_THAT(sent(tool(kAllTypes), R"({"s":"x","querry":1})"), HasSubstr("querry"));
  EXPECT_THAT(sent(tool(kAllTypes), "[]"), HasSubstr("object"));
  EXPECT_THAT(sent(tool(kAllTypes), R"({"s":"x","s":"y"})"), HasSubstr("Invalid arguments"));
}

// SES-08
TEST_F(Arguments, ThatASchemaSpeaksOfItselfAreItsOwnAffair) {
  EXPECT_EQ(sent(tool(R"({"type":"object","additionalProperties":true})"), R"({"x":1})"), R"("x":1)");
  EXPECT_EQ(sent(tool(R"({"type":"object","additionalProperties":{"type":"integer"}})"), R"({"x":1})"), R"("x":1)");
  EXPECT_EQ(sent(tool(R"({"type":"object","patternProperties":{"^x":{}}})"), R"({"x1":1})"), R"("x1":1)");
  EXPECT_THAT(sent(tool(R"({"type":"object","patternProperties":{"^x":{}}})"), R"({"y":1})"), HasSubstr("y"));
  const auto composed = tool(R"({"type":"object","allOf":[{"properties":{"a":{}}}],"properties":{"b":{}}})");
  EXPECT_EQ(sent(composed, R"({"a":1,"b":2})"), R"("a":1,"b":2)");
  EXPECT_THAT(sent(composed, R"({"c":1})"), HasSubstr("\"c\""));
}

// SES-08
TEST_F(Arguments, AreCheckedByDraft7WhereTheSchemaSaysSo) {
  const auto draft7 = tool(R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object",)"
                           R"("properties":{"a":{"items":[{"type":"integer"}]}},)"
                           R"("allOf":[{"properties":{"b":{"type":"string"}}}]})");
  EXPECT_EQ(sent(draft7, R"({"a":[1,"x"],"b":"y"})"), R"("a":[1,"x"],"b":"y")");
  EXPECT_THAT(sent(draft7, R"({"a":["x"]})"), HasSubstr("/a/0"));
  EXPECT_THAT(sent(draft7, R"({"c":1})"), HasSubstr("\"c\""));
}

// SES-09
TEST_F(Arguments, CannotOverrideWhatIsFixed) {
  const auto open = tool(R"({"type":"object","additionalProperties":true})", R"(,"fixed_params":{"connector_id":42})");
  EXPECT_THAT(sent(open, R"({"connector_id":1})"), AllOf(HasSubstr("connector_id"), Not(HasSubstr("42"))));
  EXPECT_THAT(sent(open, R"({"action":"drop"})"), HasSubstr("Invalid arguments"));
  EXPECT_THAT(sent(open, R"({"\u0061ction":"drop"})"), HasSubstr("Invalid arguments"));
}

}  // namespace
}  // namespace proteus::providers
