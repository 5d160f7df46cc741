#include "mcp/headers.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::mcp {
namespace {

// 2026-07-28, "Value Encoding": the table of examples.
// PRO-04
TEST(HeaderValue, IsEncodedAsTheSpecificationShows) {
  EXPECT_EQ(encode_header_value("us-west1"), "us-west1");
  EXPECT_EQ(encode_header_value("Hello, \xE4\xB8\x96\xE7\x95\x8C"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
  EXPECT_EQ(encode_header_value(" padded "), "=?base64?IHBhZGRlZCA=?=");
  EXPECT_EQ(encode_header_value("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
  EXPECT_EQ(encode_header_value("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
}

TEST(HeaderValue, IsEncodedWhereAnythingOnTheWayCouldChangeIt) {
  for (const auto* const value :
       {"", " a", "a ", "\ta", "a\t", "a\tb", "a\rb", "\x7f", "\xff", "=?base64?\?=", "=?base64?="}) {
    EXPECT_TRUE(encode_header_value(value).starts_with("=?base64?")) << value;
  }
  for (const auto* const value : {"a b", "=?base64?x", "x?=", "=?BASE64?x?=", "~!@#$%^&*()", "=?=", "0"}) {
    EXPECT_EQ(encode_header_value(value), value);
  }
}

// PRO-04
TEST(HeaderValue, ReadsBackAsTheSameWhateverItHolds) {
  std::string every;
  for (int i = 0; i < 256; ++i)
    every.push_back(static_cast<char>(i));
  for (const std::string& value : {std::string(), every, std::string("\0", 1), std::string("a\r\nX-Evil: 1"),
                                   std::string("=?base64?YQ==?="), std::string("=?base64?="), std::string(" x ")}) {
    const std::string encoded = encode_header_value(value);
    EXPECT_TRUE(std::ranges::all_of(encoded, [](char c) { return c >= 0x20 && c <= 0x7e; }));
    EXPECT_EQ(decode_header_value(encoded).value(), value);
  }
}

// PRO-04
TEST(HeaderValue, WithBadBase64OrCharactersIsRefused) {
  for (const auto* const value : {"=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?SGVsbG9=?=",
                                  "=?base64?SGVs bG8=?=", "a\nb", "a\rb", "\x01", "\x7f", "\xC3\xA9"}) {
    const auto decoded = decode_header_value(value);
    ASSERT_FALSE(decoded) << value;
    EXPECT_EQ(decoded.error().rpc_code(), code::kHeaderMismatch);
  }
}

// PRO-04
TEST(HeaderValue, WithoutBothMarkersIsTakenAsItIs) {
  for (const auto* const value :
       {"SGVsbG8=", "=?base64?SGVsbG8=", "SGVsbG8=?=", "=?BASE64?SGVsbG8=?=", "=?base64?=", "a\tb"}) {
    EXPECT_EQ(decode_header_value(value).value(), value);
  }
  EXPECT_EQ(decode_header_value("=?base64?SGVsbG8=?=").value(), "Hello");
  EXPECT_EQ(decode_header_value("=?base64?\?=").value(), "");
}

// PRO-04
TEST(NameHeader, MustSayWhatTheBodySays) {
  EXPECT_TRUE(check_name_header("get_weather", "get_weather"));
  EXPECT_TRUE(check_name_header("=?base64?Z2V0X3dlYXRoZXI=?=", "get_weather"));
  EXPECT_TRUE(check_name_header("=?base64?w6k=?=", "\xC3\xA9"));
  EXPECT_TRUE(check_name_header(encode_header_value("=?base64?YQ==?="), "=?base64?YQ==?="));
  EXPECT_TRUE(check_name_header("=?base64?\?=", ""));
  EXPECT_TRUE(check_name_header("", ""));
  const std::pair<std::optional<std::string_view>, std::string_view> wrong[] = {{std::nullopt, "a"},
                                                                                {"A", "a"},
                                                                                {"b", "a"},
                                                                                {"=?base64?Yg==?=", "a"},
                                                                                {"", "a"},
                                                                                {"a", ""},
                                                                                {"=?base64?YQ?=", "a"},
                                                                                {"a\n", "a\n"},
                                                                                {"\xC3\xA9", "\xC3\xA9"},
                                                                                {"=?base64?YQ==?=", "=?base64?YQ==?="}};
  for (const auto& [header, body] : wrong) {
    const auto checked = check_name_header(header, body);
    ASSERT_FALSE(checked) << header.value_or("(none)") << " against " << body;
    EXPECT_EQ(checked.error().rpc_code(), code::kHeaderMismatch);
    EXPECT_EQ(http_status(checked.error(), Era::modern), 400U);
  }
}

Result<std::vector<MirroredParameter>> annotations(std::string_view schema) {
  return mirrored_parameters(*json::parse(schema));
}

TEST(MirroredParameters, AreFoundAtAnyDepthOfProperties) {
  const auto found = annotations(R"({"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "nested":{"type":"object","properties":{"limit":{"type":"integer","x-mcp-header":"Limit"},
                                            "default":{"type":"boolean","x-mcp-header":"Default"}}},
    "x-mcp-header":{"type":"string"},
    "enum":{"type":"object","properties":{"const":{"type":"string","x-mcp-header":"!#$%&'*+-.^_`|~09"}}},
    "query":{"type":"string","default":{"x-mcp-header":""},"enum":[{"x-mcp-header":1}]}}})");
  ASSERT_TRUE(found) << found.error().message();
  std::map<std::string, std::vector<std::string>> by_header;
  for (const auto& parameter : *found)
    by_header[parameter.header] = parameter.path;
  EXPECT_EQ(by_header,
            (std::map<std::string, std::vector<std::string>>{{"Mcp-Param-Region", {"region"}},
                                                             {"Mcp-Param-Limit", {"nested", "limit"}},
                                                             {"Mcp-Param-Default", {"nested", "default"}},
                                                             {"Mcp-Param-!#$%&'*+-.^_`|~09", {"enum", "const"}}}));
  EXPECT_TRUE(annotations("true")->empty());
  EXPECT_TRUE(annotations("{}")->empty());
}

// 2026-07-28, "Schema Extension": annotations that make the definition of a tool invalid.
TEST(MirroredParameters, ThatBreakARuleMakeTheToolInvalid) {
  const auto property = [](std::string_view inside) { return R"({"properties":{"a":{)" + std::string(inside) + "}}}"; };
  for (
      const std::string& schema : {
          property(R"("type":"string","x-mcp-header":"")"),
          property(R"("type":"string","x-mcp-header":1)"),
          property(R"("type":"string","x-mcp-header":null)"),
          property(R"("type":"string","x-mcp-header":"My Region")"),
          property(R"("type":"string","x-mcp-header":"Region:Primary")"),
          property(R"("type":"string","x-mcp-header":"R\u00e9gion")"),
          property(R"("type":"string","x-mcp-header":"Region\t1")"),
          property(R"("type":"string","x-mcp-header":"a\r\nX")"),
          property(R"("type":"number","x-mcp-header":"A")"),
          property(R"("type":"object","x-mcp-header":"A")"),
          property(R"("type":"array","items":{"type":"string"},"x-mcp-header":"A")"),
          property(R"("type":"null","x-mcp-header":"A")"),
          property(R"("type":["string","null"],"x-mcp-header":"A")"),
          property(R"("x-mcp-header":"A")"),
          std::string(R"({"type":"string","x-mcp-header":"A"})"),
          std::string(
              R"({"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"A"}}})"),
          std::string(
              R"({"properties":{"a":{"type":"string","x-mcp-header":"MyField"},"b":{"type":"string","x-mcp-header":"myfield"}}})"),
      }) {
    EXPECT_FALSE(annotations(schema)) << schema;
  }
}

TEST(MirroredParameters, BelowAnythingButPropertiesMakeTheToolInvalid) {
  const std::string annotated = R"({"type":"string","x-mcp-header":"A"})";
  for (const auto* const keyword : {"items", "contains", "additionalProperties", "not", "if", "then", "else",
                                    "propertyNames", "unevaluatedItems", "unevaluatedProperties"}) {
    EXPECT_FALSE(annotations(R"({"properties":{"a":{")" + std::string(keyword) + "\":" + annotated + "}}}")) << keyword;
  }
  for (const auto* const keyword : {"oneOf", "anyOf", "allOf", "prefixItems"}) {
    EXPECT_FALSE(annotations("{\"" + std::string(keyword) + "\":[" + annotated + "]}")) << keyword;
  }
  for (const auto* const keyword : {"$defs", "definitions", "patternProperties", "dependentSchemas"}) {
    for (const auto* const name : {"A", "default", "enum"}) {
      EXPECT_FALSE(annotations("{\"" + std::string(keyword) + "\":{\"" + name + "\":" + annotated + "}}")) << keyword;
    }
  }
  EXPECT_FALSE(annotations(R"({"items":{"properties":{"const":)" + annotated + "}}}"))
      << "a property that is called like a keyword is still a property";
  EXPECT_TRUE(annotations(R"({"items":{"properties":{"x-mcp-header":{"type":"string"}}}})"))
      << "a property that is called like the annotation is none";
}

const char* const kSchema = R"({"properties":{
    "s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},
    "b":{"type":"boolean","x-mcp-header":"B"},
    "o":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"Nested"}}}}})";

using Headers = std::map<std::string, std::string, std::less<>>;

Headers mirrored(std::string_view arguments) {
  Headers headers;
  for (auto& [name, value] : mirror(*annotations(kSchema), *json::parse(arguments)).value())
    headers.emplace(name, value);
  return headers;
}

TEST(Mirror, WritesEachAnnotatedArgumentThatIsThere) {
  EXPECT_EQ(mirrored(R"({"s":"us-west1","i":42,"b":true,"o":{"s":" x"},"other":1})"),
            (Headers{{"Mcp-Param-S", "us-west1"},
                     {"Mcp-Param-I", "42"},
                     {"Mcp-Param-B", "true"},
                     {"Mcp-Param-Nested", "=?base64?IHg=?="}}));
  EXPECT_EQ(mirrored(R"({"i":-7,"b":false,"o":{}})"), (Headers{{"Mcp-Param-I", "-7"}, {"Mcp-Param-B", "false"}}));
  EXPECT_EQ(mirrored(R"({"s":null,"o":null})"), Headers{});
  EXPECT_EQ(mirrored(R"({"o":"not an object"})"), Headers{});
  EXPECT_EQ(mirrored(R"({"i":42.0})"), (Headers{{"Mcp-Param-I", "42"}}));
  EXPECT_EQ(mirrored(R"({"i":-0.0})"), (Headers{{"Mcp-Param-I", "0"}}));
  EXPECT_EQ(mirrored(R"({"i":9007199254740991})"), (Headers{{"Mcp-Param-I", "9007199254740991"}}));
  EXPECT_EQ(mirrored("{}"), Headers{});
}

TEST(Mirror, RefusesAnArgumentOfAnotherTypeThanItsSchemaSays) {
  for (const auto* const arguments :
       {R"({"s":1})", R"({"i":"1"})", R"({"i":1.5})", R"({"i":9007199254740993})", R"({"i":1e300})", R"({"b":"true"})",
        R"({"b":1})", R"({"s":["x"]})", R"({"i":true})"}) {
    EXPECT_FALSE(mirror(*annotations(kSchema), *json::parse(arguments))) << arguments;
  }
}

Result<void> check(std::string_view arguments, const Headers& headers) {
  return check_mirrored(*annotations(kSchema), *json::parse(arguments),
                        [&](std::string_view name) -> std::optional<std::string_view> {
                          const auto found = headers.find(name);
                          return found == headers.end() ? std::nullopt : std::optional<std::string_view>(found->second);
                        });
}

// PRO-04
TEST(CheckMirrored, AcceptsWhatMirrorWrites) {
  for (const auto* const arguments :
       {"{}", R"({"s":"x","i":42,"b":false,"o":{"s":"\u00e9"}})", R"({"s":"","i":-9007199254740991})", R"({"s":null})",
        R"({"s":"=?base64?YQ==?=","i":0})", R"({"s":"a\r\nb"})"}) {
    const auto checked = check(arguments, mirrored(arguments));
    EXPECT_TRUE(checked) << arguments << checked.error().message();
  }
}

// PRO-04
TEST(CheckMirrored, ComparesIntegersAsNumbers) {
  for (const auto* const header : {"42", "42.0", "4.2e1", "=?base64?NDI=?="})
    EXPECT_TRUE(check(R"({"i":42})", {{"Mcp-Param-I", header}})) << header;
  EXPECT_TRUE(check(R"({"i":42.0})", {{"Mcp-Param-I", "42"}}));
  for (const auto* const header : {"43", "42.5", "0x2a", "+42", " 42", "42 ", "", "nan", "inf", "forty-two"})
    EXPECT_FALSE(check(R"({"i":42})", {{"Mcp-Param-I", header}})) << header;
}

// These integers are equal as doubles, but an intermediary that routes by the header would see a different number.
// PRO-04
TEST(CheckMirrored, RefusesIntegersThatADoubleCannotTellApart) {
  EXPECT_FALSE(check(R"({"i":9007199254740992})", {{"Mcp-Param-I", "9007199254740993"}}));
  EXPECT_FALSE(check(R"({"i":1e400})", {{"Mcp-Param-I", "inf"}}));
  EXPECT_TRUE(check(R"({"i":9007199254740991})", {{"Mcp-Param-I", "9007199254740991"}}));
}

// PRO-04
TEST(CheckMirrored, RefusesWhatIsMissingTooMuchOrDifferent) {
  const std::pair<const char*, Headers> wrong[] = {
      {R"({"s":"x"})", {}},
      {R"({"s":"x"})", {{"Mcp-Param-S", "X"}}},
      {R"({"s":"x"})", {{"Mcp-Param-S", "=?base64?eA?="}}},
      {R"({"s":"x"})", {{"Mcp-Param-S", "x\n"}}},
      {R"({"s":null})", {{"Mcp-Param-S", "x"}}},
      {"{}", {{"Mcp-Param-S", ""}}},
      {R"({"b":true})", {{"Mcp-Param-B", "True"}}},
      {R"({"b":true})", {{"Mcp-Param-B", "1"}}},
      {R"({"o":{"s":"x"}})", {{"Mcp-Param-S", "x"}}},
      {R"({"i":"42"})", {{"Mcp-Param-I", "42"}}},
      {R"({"s":{"a":1}})", {{"Mcp-Param-S", "{\"a\":1}"}}},
  };
  for (const auto& [arguments, headers] : wrong) {
    const auto checked = check(arguments, headers);
    ASSERT_FALSE(checked) << arguments;
    EXPECT_EQ(checked.error().rpc_code(), code::kHeaderMismatch) << arguments;
  }
}

// SEC-03: the memory for parameters does not grow with the square of the schema.
TEST(MirroredParameters, AreBounded) {
  const auto schema = [](int parameters, std::size_t name) {
    boost::json::object properties;
    for (int i = 0; i < parameters; ++i)
      properties[fmt::format("p{}", i)] = {{"type", "string"}, {"x-mcp-header", fmt::format("P{}", i)}};
    const boost::json::value inner = {{"type", "object"}, {"properties", std::move(properties)}};
    return boost::json::value{{"properties", {{std::string(name, 'x'), inner}}}};
  };
  EXPECT_EQ(mirrored_parameters(schema(100, 100))->size(), 100U);
  EXPECT_FALSE(mirrored_parameters(schema(101, 100)));
  const auto deep = mirrored_parameters(schema(1, 500'000));
  ASSERT_FALSE(deep);
  EXPECT_LT(deep.error().message().size(), 200U);
}

}  // namespace
}  // namespace proteus::mcp
