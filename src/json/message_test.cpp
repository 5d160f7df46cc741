#include "json/message.hpp"

#include <string>

#include <gtest/gtest.h>

namespace proteus::json {
namespace {

TEST(Scan, FindsThePartsOfARequestWithoutChangingAByte) {
  const std::string text =
      R"( { "jsonrpc" : "2.0", "id": 7, "method":"tools/call","params":{"name":"add","arguments":{"a":1.0,"b":[{}, []]},)"
      R"("_meta":{"progressToken":"p","x/y":{"z":null}},"unknown":-0.5e+3}, "extra":true} )";
  const auto message = scan(text);
  ASSERT_TRUE(message) << message.error().message();
  EXPECT_EQ(message->kind, MessageKind::request);
  EXPECT_EQ(message->id, "7");
  EXPECT_EQ(message->method, "tools/call");
  EXPECT_EQ(message->body.value("name"), "\"add\"");
  EXPECT_EQ(message->body.value("arguments"), R"({"a":1.0,"b":[{}, []]})");
  EXPECT_EQ(message->body.value("_meta"), R"({"progressToken":"p","x/y":{"z":null}})");
  EXPECT_EQ(message->body.value("unknown"), "-0.5e+3");
  EXPECT_EQ(message->meta.value("progressToken"), "\"p\"");
  EXPECT_EQ(message->meta.value("x/y"), R"({"z":null})");
  EXPECT_TRUE(message->params.starts_with("{\"name\""));
  EXPECT_TRUE(message->params.ends_with("e+3}"));
}

// PRO-12: any integer and any string is an id and keeps its spelling.
TEST(Scan, KeepsIdsAsWrittenPRO12) {
  for (const std::string id :
       {"0", "-1", "123456789012345678901234567890", R"("")", R"("a\u0041\"")", "\"9\""}) {
    const std::string text = R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"ping"})";
    const auto message = scan(text);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->kind, MessageKind::request) << id;
    EXPECT_EQ(message->id, id);
  }
}

TEST(Scan, RefusesOtherIdsPRO12) {
  for (const std::string id : {"null", "{}", "[1]", "1.5", "1e400", "1e2", "true"}) {
    const std::string text = R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"ping"})";
    const auto message = scan(text);
    ASSERT_TRUE(message) << id;
    EXPECT_EQ(message->kind, MessageKind::invalid) << id;
    EXPECT_TRUE(message->id.empty());
    EXPECT_EQ(message->fault, "\"id\" must be a string or an integer");
  }
}

TEST(Scan, TellsResultsErrorsAndNotificationsApart) {
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":1,"result":{"_meta":{"a":1}}})")->kind, MessageKind::result);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}})")->kind, MessageKind::error);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","error":{"code":-1,"message":"m"}})")->kind, MessageKind::error);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","method":"notifications/x"})")->kind, MessageKind::notification);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})")->kind, MessageKind::invalid);
  EXPECT_EQ(scan(R"({"jsonrpc":"1.0","id":1,"method":"x"})")->kind, MessageKind::invalid);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})")->kind, MessageKind::invalid);
  EXPECT_EQ(scan(R"([{"jsonrpc":"2.0","id":1,"method":"x"}])")->fault, "a batch is not a message");
}

TEST(Scan, ReadsKeysAndMethodsThatAreWrittenWithEscapes) {
  const auto message =
      scan(R"({"jsonrpc":"2.0","\u0069d":3,"m\u0065thod":"tools\/list","params":{"n\u0061me":"x"}})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, MessageKind::request);
  EXPECT_EQ(message->id, "3");
  EXPECT_EQ(message->method, "tools/list");
  EXPECT_EQ(message->body.value("name"), "\"x\"");
}

// PRO-16, SEC-03: what is not JSON is told from what is no message, wherever in the text the fault stands.
TEST(Scan, RefusesWhatIsNotJsonPRO16) {
  for (const std::string text : {"",
                                 " ",
                                 "{",
                                 "}",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "{\"a\":1,}",
                                 "{\"a\":1 \"b\":2}",
                                 "{\"a\":[1,]}",
                                 "{\"a\":[1 2]}",
                                 "{\"a\":01}",
                                 "{\"a\":+1}",
                                 "{\"a\":1.}",
                                 "{\"a\":.5}",
                                 "{\"a\":1e}",
                                 "{\"a\":tru}",
                                 "{\"a\":nul}",
                                 "{\"a\":\"\\x\"}",
                                 "{\"a\":\"\\ud800\"}",
                                 "{\"a\":\"\\u12\"}",
                                 "{\"a\":\"b}",
                                 "{\"a\":{\"b\":[{]}}}",
                                 "{\"a\":1}}",
                                 "{\"a\":1}{}",
                                 "{\"a\":\"\xff\"}",
                                 "{\"a\":\"\n\"}",
                                 "{a:1}",
                                 "{\"a\":'b'}",
                                 "{\"params\":{\"_meta\":{\"a\":[}}}",
                                 "{\"a\":\"x\"y}",
                                 "nope",
                                 "{1:2}",
                                 "{\"a\"::1}",
                                 "[1,2",
                                 "{\"a\":[,1]}"}) {
    const auto message = scan(text);
    EXPECT_FALSE(message) << text;
    if (!message) EXPECT_EQ(message.error().rpc_code(), -32700) << text;
  }
}

TEST(Scan, RefusesDuplicateKeysWhereItReadsThemPRO16) {
  for (const std::string text :
       {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"x"})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","n\u0061me":"b"}})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"a":1,"a":1}}})"}) {
    const auto message = scan(text);
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().rpc_code(), -32600);
  }
}

// SEC-03: depth, size and number of members are bounded.
TEST(Scan, HasLimitsSEC03) {
  const auto deep = [](std::size_t depth) {
    return R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":)" + std::string(depth, '[') +
           std::string(depth, ']') + "}}";
  };
  const std::string fits = deep(128);
  EXPECT_TRUE(scan(fits));
  const std::string too_deep = deep(100'000);
  ASSERT_FALSE(scan(too_deep));
  EXPECT_NE(scan(too_deep).error().message().find("too deep"), std::string::npos);

  std::string many = R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":0)";
  for (int i = 0; i < 300; ++i)
    many += ",\"k" + std::to_string(i) + "\":0";
  many += "}}";
  EXPECT_EQ(scan(many).error().kind(), ErrorKind::too_large);
  EXPECT_EQ(scan(fits, {.bytes = 10}).error().kind(), ErrorKind::too_large);
}

TEST(Scan, SurvivesTruncationAtEveryByte) {
  const std::string text =
      R"({"jsonrpc":"2.0","id":"x","method":"m","params":{"_meta":{"a":[1,{"b":"c\n"}]},"n":-1.5e3}})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(scan(std::string_view(text).substr(0, length))) << length;
  }
  EXPECT_TRUE(scan(text));
}

TEST(Scan, ReadsATextLargerThanWhatAThreadKeeps) {
  std::string text =
      R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":")" + std::string(3 << 20, 'x') + "\"}}";
  EXPECT_EQ(scan(text)->body.value("a").size(), (3U << 20U) + 2);
  EXPECT_TRUE(scan(R"({"jsonrpc":"2.0","id":1,"method":"m"})"));
}

}  // namespace
}  // namespace proteus::json
