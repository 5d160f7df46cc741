#include "json/splice.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "json/text.hpp"

namespace proteus::json {
namespace {

TEST(Splice, ReplacesPiecesAndKeepsEveryOtherByte) {
  const std::string text = R"({"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{"name":"p_add","x": 1.00}})";
  const auto message = scan(text);
  Splice splice(text);
  splice.replace(message->id, "\"abc\"");
  splice.replace(message->body.value("name"), "\"add\"");
  EXPECT_EQ(splice.str(), R"({"jsonrpc":"2.0", "id":"abc","method":"tools/call","params":{"name":"add","x": 1.00}})");
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

// The sender chooses the order of keys: an id may follow the params.
TEST(Splice, TakesPiecesInAnyOrder) {
  const std::string text = R"({"params":{"name":"p_add"},"method":"tools/call","id":1,"jsonrpc":"2.0"})";
  const auto message = scan(text);
  Splice splice(text);
  splice.replace(message->id, "7");
  splice.replace(message->body.value("name"), "\"add\"");
  splice.insert_after(message->body.value("name"), ",\"x\":1");
  splice.insert_before(message->body.value("name"), " ");
  splice.insert_before(message->body.value("name"), "\t");
  EXPECT_EQ(splice.str(),
            "{\"params\":{\"name\": \t\"add\",\"x\":1},\"method\":\"tools/call\",\"id\":7,\"jsonrpc\":\"2.0\"}");
}

TEST(Splice, RefusesPiecesThatAreNotItsOwnOrOverlap) {
  const std::string text = R"({"a":1})";
  const std::string_view view = text;
  Splice splice(text);
  EXPECT_THROW(splice.replace({}, "x"), std::logic_error) << "a member that is not there";
  EXPECT_THROW(splice.replace("elsewhere", "x"), std::logic_error);
  splice.replace(view.substr(1, 3), "x");
  splice.replace(view.substr(3, 2), "y");
  EXPECT_THROW(splice.pieces(), std::logic_error);
}

std::string edited(const std::string& text, std::string_view dropped, std::string_view added) {
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = members_of(text, storage);
  Splice splice(text);
  edit_members(
      splice, text, *members, [&](const Member& member) { return dropped.find(member.key) != std::string_view::npos; },
      added);
  return splice.str();
}

// PRO-13: all other members stay unchanged, byte for byte.
TEST(EditMembers, DropsAndAddsAnyOfThem) {
  const std::string text = R"({ "a" : 1 , "b":[1,2],"c":{"a": 1}, "d" :null })";
  EXPECT_EQ(edited(text, "", ""), text);
  EXPECT_EQ(edited(text, "a", ""), R"({ "b":[1,2],"c":{"a": 1}, "d" :null })");
  EXPECT_EQ(edited(text, "ab", ""), R"({"c":{"a": 1}, "d" :null })");
  EXPECT_EQ(edited(text, "bd", ""), R"({ "a" : 1,"c":{"a": 1} })");
  EXPECT_EQ(edited(text, "ac", R"("e":5)"), R"({ "b":[1,2], "d" :null ,"e":5})");
  EXPECT_EQ(edited(text, "cd", R"("e":5)"), R"({ "a" : 1 , "b":[1,2] ,"e":5})");
  EXPECT_EQ(edited(text, "abcd", ""), "{ }");
  EXPECT_EQ(edited(text, "abcd", R"("e":5,"f":6)"), R"({ "e":5,"f":6})");
  EXPECT_EQ(edited("{}", "", ""), "{}");
  EXPECT_EQ(edited("{}", "", R"("e":5)"), R"({"e":5})");
  EXPECT_EQ(edited(R"({"a":1})", "a", R"("e":5)"), R"({"e":5})");
}

TEST(EditMembers, LeavesAnObjectForEverySetOfMembers) {
  const std::string text = R"({"a":1, "b" : [1,2] ,"c":"," , "d":{}})";
  for (unsigned set = 0; set < 32; ++set) {
    std::string dropped;
    for (unsigned i = 0; i < 4; ++i)
      if ((set >> i & 1U) != 0) dropped.push_back(static_cast<char>('a' + i));
    const std::string result = edited(text, dropped, (set & 16U) != 0 ? R"("e":null)" : "");
    const auto value = parse(result);
    ASSERT_TRUE(value) << result;
    const auto& object = value->as_object();
    EXPECT_EQ(object.size(), 4 - dropped.size() + ((set & 16U) != 0 ? 1 : 0)) << result;
    for (const char key : dropped)
      EXPECT_FALSE(object.contains(std::string(1, key))) << result;
  }
}

}  // namespace
}  // namespace proteus::json
