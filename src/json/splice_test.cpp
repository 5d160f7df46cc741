#include "json/splice.hpp"

#include <gtest/gtest.h>

#include "json/canonical.hpp"
#include "json/text.hpp"

namespace proteus::json {
namespace {

TEST(Splice, ReplacesPiecesAndKeepsEveryOtherByte) {
  const std::string text =
      R"({"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{"name":"p_add","x": 1.00}})";
  const auto message = scan(text);
  Splice splice(text);
  splice.replace(message->id, "\"abc\"");
  splice.replace(message->body.value("name"), "\"add\"");
  EXPECT_EQ(splice.str(),
            R"({"jsonrpc":"2.0", "id":"abc","method":"tools/call","params":{"name":"add","x": 1.00}})");
  EXPECT_EQ(splice.size(), splice.str().size());
}

TEST(Splice, InsertsBeforeAndBehind) {
  const std::string text = R"({"a":1})";
  Splice splice(text);
  const std::string_view one = std::string_view(text).substr(5, 1);
  splice.insert_before(one, "2");
  splice.insert_after(one, ",\"b\":3");
  EXPECT_EQ(splice.str(), R"({"a":21,"b":3})");
}

TEST(Splice, CutsAMemberOutWithItsComma) {
  const std::string text = R"({ "a" : 1 , "b":[1,2],"c":{} })";
  for (std::size_t index = 0; index < 3; ++index) {
    std::vector<std::unique_ptr<std::string>> storage;
    const auto members = members_of(text, storage);
    Splice splice(text);
    splice.replace(member_with_comma(text, *members, index), "");
    const auto rest = parse(splice.str());
    ASSERT_TRUE(rest) << splice.str();
    EXPECT_EQ(rest->as_object().size(), 2U);
    EXPECT_FALSE(rest->as_object().contains(std::string(1, static_cast<char>('a' + index))));
  }
  const std::string lone = R"({"a":1})";
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = members_of(lone, storage);
  Splice splice(lone);
  splice.replace(member_with_comma(lone, *members, 0), "");
  EXPECT_EQ(splice.str(), "{}");
}

TEST(Text, QuotesAndDecodesBackToTheSame) {
  const std::string text = std::string("a\"\\/\b\f\n\r\t\x01 \x7f", 12) + "\xE2\x82\xAC\xF0\x9F\x98\x80";
  EXPECT_EQ(decode_string(quote(text)).value(), text);
  EXPECT_EQ(quote("a/b"), "\"a/b\"");
  EXPECT_EQ(quote("\xff"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(decode_string(R"("\ud83d\ude00")").value(), "\xF0\x9F\x98\x80");
}

TEST(Canonical, IsTheSameForTheSameValue) {
  EXPECT_EQ(canonical_hash(R"({"b":1.0,"a":[true,null,"\u0041"]})").value(),
            canonical_hash(R"({ "a":[true ,null,"A"], "b":1 })").value());
  EXPECT_NE(canonical_hash(R"({"a":1})").value(), canonical_hash(R"({"a":2})").value());
  EXPECT_EQ(canonical(*parse(R"({"c":1e21,"b":0.1,"a":-0.0})")), R"({"a":0,"b":0.1,"c":1e+21})");
  EXPECT_EQ(canonical(*parse("{\"\xEF\xAC\x81\":1,\"\xF0\x9F\x98\x80\":2}")),
            "{\"\xF0\x9F\x98\x80\":2,\"\xEF\xAC\x81\":1}");
}

}  // namespace
}  // namespace proteus::json
