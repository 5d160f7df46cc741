#include "gateway/confirmation/confirmation_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

std::string shown(std::string_view arguments) {
  const std::string text = confirmation_text("drop", arguments).value();
  constexpr std::string_view kHead = "Confirm execution of 'drop':\n\n";
  EXPECT_TRUE(text.starts_with(kHead)) << text;
  return text.substr(kHead.size());
}

// SES-11
TEST(ConfirmationText, ShowsEachArgumentOnALine) {
  EXPECT_EQ(shown(R"("table":"orders","cascade" : true, "limit":10 ,"note":"Löschen, bitte.","時":null)"),
            "table: orders\ncascade: true\nlimit: 10\nnote: Löschen, bitte.\n時: null");
  EXPECT_EQ(shown(""), "(no arguments)");
}

TEST(ConfirmationText, ShowsNestedValuesOnOneLine) {
  EXPECT_EQ(shown("\"filter\": { \"a\" :\n[1,\t-2.50e+400, {}],\r\n\"b\":\"x\\ny\" },\"list\":[ ]"),
            "filter: {\"a\": [1, -2.50e+400, {}], \"b\": \"x\\ny\"}\nlist: []");
}

TEST(ConfirmationText, QuotesATextThatCouldBeAnotherValue) {
  EXPECT_EQ(shown(R"("a":"true","b":"12","c":"","d":" x","e":"say \"hi\"","f":"2026-01-01","g":"[1]")"),
            "a: \"true\"\nb: \"12\"\nc: \"\"\nd: \" x\"\ne: \"say \\\"hi\\\"\"\nf: 2026-01-01\ng: \"[1]\"");
}

TEST(ConfirmationText, KeepsAnArgumentFromImitatingTheQuestionOrAnotherArgument) {
  const std::string imitating =
      shown(R"("note":"ok\n\nConfirm execution of 'read':\n\ntable: none","to: you\nfrom":"me","x":"y      z: 1")");
  EXPECT_EQ(imitating,
            "note: \"ok\\n\\nConfirm execution of 'read':\\n\\ntable: none\"\n"
            "\"to: you\\nfrom\": me\n"
            "x: \"y      z: 1\"");
  EXPECT_EQ(shown(R"("note":"keep it, table: all")"), "note: \"keep it, table: all\"")
      << "a display may break the line";
  const std::string long_text(200, 'x');
  EXPECT_EQ(shown("\"note\":\"" + long_text + "\""), "note: \"" + long_text + "\"");
}

TEST(ConfirmationText, MakesUnseenCharactersVisible) {
  EXPECT_EQ(
      shown(R"("a":"x\u202ey","b":"\u200b","c":"\ud83d\ude00","d":"\udb40\udc41","e":"\r\t\u001b[2J\u0085\u2028")"),
      "a: \"x\\u202ey\"\nb: \"\\u200b\"\nc: \xF0\x9F\x98\x80\nd: \"\\u{e0041}\"\n"
      "e: \"\\u000d\\t\\u001b[2J\\u0085\\u2028\"");
  EXPECT_EQ(shown("\"\xE2\x80\xAE"
                  "a\":{\"k\xE2\x81\xA6\":\"v\"}"),
            "\"\\u202ea\": {\"k\\u2066\": \"v\"}");
}

// Nobody confirms what was not shown.
TEST(ConfirmationText, IsWholeOrNotAtAll) {
  const std::string much(60'000, 'x');
  EXPECT_THAT(shown("\"a\":\"" + much + "\",\"b\":\"the end\""), ::testing::EndsWith("\nb: the end"));
  const std::string too_much(70'000, 'x');
  EXPECT_EQ(confirmation_text("drop", "\"a\":\"" + too_much + "\"").error().kind(), ErrorKind::too_large);
  std::string unseen;
  for (int i = 0; i < 15'000; ++i)
    unseen += "\xE2\x80\xAE";
  EXPECT_FALSE(confirmation_text("drop", "\"a\":\"" + unseen + "\"")) << "what is shown counts";
}

}  // namespace
}  // namespace proteus::gateway
