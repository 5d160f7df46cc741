#include "json/text.hpp"

#include <cstdlib>
#include <initializer_list>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/canonical.hpp"

namespace proteus::json {
namespace {

TEST(Text, QuotesAndDecodesBackToTheSame) {
  const std::string text = std::string("a\"\\/\b\f\n\r\t\x01 \x7f", 12) + "\xE2\x82\xAC\xF0\x9F\x98\x80";
  EXPECT_EQ(decode_string(quote(text)).value(), text);
  EXPECT_EQ(quote("a/b"), "\"a/b\"");
  EXPECT_EQ(quote("\xff"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(decode_string(R"("\ud83d\ude00")").value(), "\xF0\x9F\x98\x80");
}

TEST(Text, QuotesWhatIsEscapedAnywhereInALongText) {
  for (const char escaped : {'"', '\\', '\n', '\x01'}) {
    for (std::size_t place = 0; place < 40; ++place) {
      std::string text(40, 'x');
      text[place] = escaped;
      text[place / 2] = '"';
      EXPECT_EQ(decode_string(quote(text)).value(), text) << place;
    }
  }
  EXPECT_EQ(quote(std::string(3, '\x1f')), R"("\u001f\u001f\u001f")");
  EXPECT_EQ(quote(std::string(20, '"') + "\xC3\xA9\xC3"),
            "\"" + std::string(R"(\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\")") + "\xC3\xA9\xEF\xBF\xBD\"");
}

TEST(Canonical, IsTheSameForTheSameValue) {
  EXPECT_EQ(canonical_hash(R"({"b":1.0,"a":[true,null,"\u0041"]})").value(),
            canonical_hash(R"({ "a":[true ,null,"A"], "b":1 })").value());
  EXPECT_NE(canonical_hash(R"({"a":1})").value(), canonical_hash(R"({"a":2})").value());
  EXPECT_EQ(canonical(*parse(R"({"c":1e21,"b":0.1,"a":-0.0})")), R"({"a":0,"b":0.1,"c":1e+21})");
  EXPECT_EQ(canonical(*parse("{\"\xEF\xAC\x81\":1,\"\xF0\x9F\x98\x80\":2}")),
            "{\"\xF0\x9F\x98\x80\":2,\"\xEF\xAC\x81\":1}");
}

TEST(Canonical, TellsNumbersApartThatADoubleCannot) {
  const auto text = [](std::string_view number) { return canonical_text(number).value(); };
  for (const char* far : {"1.5e-9223372036854775808", "1.5e9223372036854775807", "1e-1000000000001"})
    EXPECT_FALSE(canonical_text(far)) << far;
  EXPECT_NE(text("12345678901234567890123"), text("12345678901234567890999"));
  EXPECT_NE(text("1e400"), text("1e500"));
  EXPECT_NE(text("0.1"), text("0.10000000000000000001"));
  EXPECT_NE(text("9007199254740993.0"), text("9007199254740992"));
  EXPECT_NE(text("1e-400"), text("0"));
  for (const auto* const same : {"1", "1.0", "10e-1", "0.1E+1", "1.000e0"})
    EXPECT_EQ(text(same), "1") << same;
  EXPECT_EQ(text("12345678901234567890123"), text("1.2345678901234567890123e22"));
  EXPECT_EQ(text("-0.0e7"), "0");
}

TEST(Canonical, OfATextIsThatOfItsTreeWhereNothingIsRounded) {
  for (const auto* const same :
       {R"({"c":1e21,"b":0.1,"a":-0.0})", R"([1e20,-5e-324,1.7976931348623157e308,18446744073709551615,1e-7])",
        "{\"\xEF\xAC\x81\":1,\"\xF0\x9F\x98\x80\":{\"b\":[],\"a\":{}}}",
        R"( { "\u0062" : "\u0041\n", "a" : [ true , null ] } )"})
    EXPECT_EQ(canonical_text(same).value(), canonical(*parse(same))) << same;
}

// Boost's own parser is off in the last place for some of these numbers.
TEST(Parse, RoundsNumbersCorrectly) {
  for (const auto* const text : {"0.1", "1e-7", "123456789.987654321", "2.2250738585072014e-308", "5e-324",
                                 "9007199254740993.0", "1.7976931348623157e308", "6.02214076e23", "1e23", "8.5e-300"}) {
    const auto value = parse(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(value->as_double(), std::strtod(text, nullptr)) << text;
  }
  EXPECT_EQ(parse("18446744073709551615")->as_uint64(), 18446744073709551615ULL);
  EXPECT_EQ(parse("-9223372036854775808")->as_int64(), INT64_MIN);
  EXPECT_EQ(parse("18446744073709551616")->as_double(), 18446744073709551616.0);
  EXPECT_EQ(parse("0e400")->as_double(), 0.0);
}

TEST(Text, TakesAnIntegerForOneWhereItIsOne) {
  EXPECT_EQ(as_int64("0"), 0);
  EXPECT_EQ(as_int64("-1"), -1);
  EXPECT_EQ(as_int64("4503599627370497"), 4503599627370497);
  EXPECT_EQ(as_int64("999999999999999999"), 999999999999999999);
  EXPECT_EQ(as_int64("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(as_int64("-9223372036854775808"), INT64_MIN);
  for (const auto* const text :
       {"", "-", "1.0", "1e3", "12a", "123456789012345678x", "9223372036854775808", "\"1\"", " 1"})
    EXPECT_EQ(as_int64(text), std::nullopt) << text;
}

TEST(Parse, RefusesAKeyThatComesTwice) {
  for (const auto* const text :
       {R"({"a":1,"a":1})", R"([{"a":{"b":1,"\u0062":2}}])", R"({"a":{"x":1},"a":{"y":1,"z":2}})"}) {
    EXPECT_FALSE(parse(text)) << text;
    EXPECT_FALSE(canonical_hash(text)) << text;
  }
  EXPECT_TRUE(parse(R"([{"a":{"a":1}},{"a":[]}])"));
}

// Whoever chooses the keys chooses how many of them a tree has to compare with each other.
TEST(Parse, LimitsTheMembersOfLargeObjects) {
  const auto objects = [](std::size_t count, std::size_t keys) {
    std::string object;
    for (std::size_t i = 0; i < keys; ++i)
      object += fmt::format(R"({}"{:06}":0)", i == 0 ? "{" : ",", i);
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i)
      text += (i == 0 ? "" : ",") + object + "}";
    return text + "]";
  };
  EXPECT_TRUE(parse(objects(1, 5792)));
  EXPECT_TRUE(parse(objects(30, 1000)));
  EXPECT_TRUE(parse(objects(5000, 100)));
  for (const auto& text : {objects(1, 5793), objects(40, 1000), objects(2100, 129)}) {
    ASSERT_FALSE(parse(text));
    EXPECT_EQ(parse(text).error().kind(), ErrorKind::too_large);
    EXPECT_TRUE(parses(text)) << "a text that is only forwarded needs no limit";
  }
}

TEST(Parse, RefusesWhatIsNotJson) {
  for (const auto* const text : {"", " ", "{", "[1,]", "1 2", "nul", "\"\xff\"", "{\"a\":1,}", "[1]x"}) {
    EXPECT_FALSE(parse(text)) << text;
  }
  EXPECT_TRUE(parse("[[1]]", 2));
  EXPECT_FALSE(parse("[[[1]]]", 2));
}

TEST(Parse, SaysWhereATextIsNotJson) {
  const auto fault = [](std::string_view text) { return parse(text).error().message(); };
  EXPECT_THAT(fault("{\"a\": nope}"), ::testing::EndsWith(", at line 1, column 7"));
  EXPECT_THAT(fault("{\n  \"a\": 1,\n  b\n}"), ::testing::EndsWith(", at line 3, column 3"));
  EXPECT_THAT(fault("[1]\nx"), ::testing::EndsWith(", at line 2, column 1"));
}

// Code that forwards a text without parsing it must reject the same texts as `parse`.
TEST(Parse, IsAgreedWithWithoutATree) {
  const auto object = [](std::size_t keys, std::string_view more) {
    std::string text = "{";
    for (std::size_t i = 0; i < keys; ++i)
      text += fmt::format(R"("a key that is long {}":{{"a":{}}},)", i, i);
    return text + std::string(more) + "}";
  };
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  for (const std::string& text : std::initializer_list<std::string>{"{}",
                                                                    "[]",
                                                                    " 1 ",
                                                                    "\"x\"",
                                                                    "null",
                                                                    "[{},[],{\"a\":[]}]",
                                                                    R"([{"a":{"a":1}},{"a":[]}])",
                                                                    object(3, R"("b":1)"),
                                                                    object(300, R"("b":1)"),
                                                                    nested(128),
                                                                    R"({"":1,"a":2,"\u0000":3})",
                                                                    "[1e400,-0.0,1E-7,123456789012345678901]",
                                                                    R"({"a":1,"a":1})",
                                                                    R"([{"a":{"b":1,"\u0062":2}}])",
                                                                    R"({"a":{"x":1},"a":{"y":1,"z":2}})",
                                                                    object(3, R"("a key that is long 1":1)"),
                                                                    object(300, R"("a key that is long 7":1)"),
                                                                    nested(129),
                                                                    R"({"":1,"":2})",
                                                                    "",
                                                                    " ",
                                                                    "{",
                                                                    "[1,]",
                                                                    "1 2",
                                                                    "nul",
                                                                    "\"\xff\"",
                                                                    "{\"a\":1,}",
                                                                    "[1]x",
                                                                    "{\"a\"}",
                                                                    "[01]",
                                                                    "[1.]",
                                                                    "{\"a\":1]",
                                                                    "[\"\\ud800\"]",
                                                                    "[\"\\udc00\"]",
                                                                    "[\"\n\"]",
                                                                    "\xEF\xBB\xBF[]",
                                                                    "[1e]",
                                                                    "{1:2}",
                                                                    "[1e2147483647]",
                                                                    "[1e2147483648]",
                                                                    "[1.5E-2147483648]",
                                                                    "[1e0000000000000000001]",
                                                                    "[1e99999999999999999999]",
                                                                    "//\n1"}) {
    EXPECT_EQ(parses(text), parse(text).has_value()) << text;
  }
  EXPECT_TRUE(parses("[[1]]", 2));
  EXPECT_FALSE(parses("[[[1]]]", 2));
}

TEST(Canonical, OfItsOwnTextIsTheSameText) {
  for (const auto* const text : {"1e400", "-1e400", "1e20", "123456789012345678901234567890", "0.1", "1e-7", "5e-324",
                                 R"({"":"\u0000\u001f\u007f","a":[-0.0,1.5e300]})"}) {
    const std::string once = canonical(*parse(text));
    const auto again = parse(once);
    ASSERT_TRUE(again) << once;
    EXPECT_EQ(canonical(*again), once);
  }
}

}  // namespace
}  // namespace proteus::json
