#include "json/message.hpp"

#include <string>

#include <gtest/gtest.h>

#include "json/text.hpp"

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

// PRO-12: any integer and any string is a valid id and keeps its spelling.
TEST(Scan, KeepsIdsAsWritten) {
  for (const std::string id : {"0", "-1", "123456789012345678901234567890", R"("")", R"("a\u0041\"")", "\"9\""}) {
    const std::string text = R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"ping"})";
    const auto message = scan(text);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->kind, MessageKind::request) << id;
    EXPECT_EQ(message->id, id);
  }
}

// PRO-12
TEST(Scan, RefusesOtherIds) {
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
  const auto message = scan(R"({"jsonrpc":"2.0","\u0069d":3,"m\u0065thod":"tools\/list","params":{"n\u0061me":"x"}})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, MessageKind::request);
  EXPECT_EQ(message->id, "3");
  EXPECT_EQ(message->method, "tools/list");
  EXPECT_EQ(message->body.value("name"), "\"x\"");
}

// PRO-16, SEC-03: text that is not JSON is distinguished from JSON that is not a message, wherever the fault is.
TEST(Scan, RefusesWhatIsNotJson) {
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

// PRO-16
TEST(Scan, RefusesDuplicateKeysWhereItReadsThem) {
  for (const std::string text : {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"x"})",
                                 R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","n\u0061me":"b"}})",
                                 R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"a":1,"a":1}}})"}) {
    const auto message = scan(text);
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().rpc_code(), -32600);
  }
}

// SEC-03: depth, size and number of members are bounded.
TEST(Scan, HasLimits) {
  // The message and its params count as two levels.
  const auto deep = [](std::size_t depth) {
    return R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":)" + std::string(depth - 2, '[') +
           std::string(depth - 2, ']') + "}}";
  };
  const std::string fits = deep(128);
  EXPECT_TRUE(scan(fits));
  EXPECT_TRUE(parse(fits)) << "what the scan lets pass, a tree can be made of";
  for (const std::size_t depth : {129UL, 100'000UL}) {
    const std::string too_deep = deep(depth);
    ASSERT_FALSE(scan(too_deep)) << depth;
    EXPECT_EQ(scan(too_deep).error().kind(), ErrorKind::too_large) << "it may well be JSON";
    EXPECT_EQ(scan(too_deep).error().rpc_code(), -32600);
  }
  const std::string unclosed(100'000, '[');
  EXPECT_EQ(scan(unclosed).error().kind(), ErrorKind::too_large);
  EXPECT_EQ(scan(unclosed, {.depth = 1'000'000}).error().kind(), ErrorKind::too_large);

  std::string many = R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":0)";
  for (int i = 0; i < 300; ++i)
    many += ",\"k" + std::to_string(i) + "\":0";
  many += "}}";
  EXPECT_EQ(scan(many).error().kind(), ErrorKind::too_large);
  EXPECT_EQ(scan(fits, {.bytes = 10}).error().kind(), ErrorKind::too_large);
}

TEST(Scan, TakesNoParamsForTheBodyOfAResult) {
  const auto message = scan(R"({"jsonrpc":"2.0","id":1,"params":{"a":1},"result":{"a":2}})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, MessageKind::invalid);
  EXPECT_EQ(message->fault, "a response has no \"params\"");
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":1,"error":{},"params":{}})")->kind, MessageKind::invalid);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":1,"method":"x","result":{}})")->kind, MessageKind::invalid);
}

TEST(Scan, ChecksEscapesInEveryStringOfAText) {
  for (const std::string bad : {R"("\q")", R"("\u00g0")", R"("\udc00")", R"("\ud800A")"}) {
    for (const std::string& text :
         {R"({"a":)" + bad + "}", R"({"a":[{"b":)" + bad + "}]}", R"({"x":"\n","a":[1,)" + bad + "]}",
          "{" + bad + ":1}", R"({"params":{"\t":1,)" + bad + ":1}}", R"({"a":[{)" + bad + ":1}]}"}) {
      EXPECT_EQ(scan(text).error().rpc_code(), -32700) << text;
    }
  }
  EXPECT_TRUE(scan(R"({"a":"\\","b":["\"\\",{"c":"\u0000\/"}],"d":"\ud83d\ude00 x"})"));
  EXPECT_FALSE(scan(R"({"a":\"b"})")) << "a backslash is no token";
}

TEST(Scan, AllowsWhiteSpaceBetweenAllTokens) {
  const auto message = scan(
      " \t\r\n{ \"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"m\" , \"params\" : { \"_meta\" : { \"a\" "
      ": true "
      "} , \"b\" : [ 1 , null , { } , [ ] , \"x\" ] , \"c\" : -1.5 } } \n");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->id, "1");
  EXPECT_EQ(message->meta.value("a"), "true");
  EXPECT_EQ(message->body.value("b"), "[ 1 , null , { } , [ ] , \"x\" ]");
  EXPECT_EQ(message->body.value("c"), "-1.5");
}

TEST(Scan, SaysWhereTheFaultIs) {
  EXPECT_EQ(scan(R"({"a":1,"b" 2})").error().message(), "not JSON: a colon is expected after a key, at byte 11");
  EXPECT_EQ(scan(R"({"a":[1,2)").error().message(),
            "not JSON: a comma or the end of an object or array is expected, at byte 9");
}

// 2025-03-26 has batches; each element is scanned as a separate message.
TEST(Elements, OfABatchKeepTheirText) {
  const auto elements = elements_of(R"([ {"a":[1, 2]} ,"x",3.0,[],null ])", 5);
  ASSERT_TRUE(elements);
  EXPECT_EQ(*elements, (std::vector<std::string_view>{R"({"a":[1, 2]})", "\"x\"", "3.0", "[]", "null"}));
  EXPECT_TRUE(elements_of("[]", 0)->empty());
  EXPECT_EQ(elements_of("[1,2,3]", 2).error().kind(), ErrorKind::too_large);
  EXPECT_EQ(elements_of("[[[1]]]", 9, {.depth = 2}).error().kind(), ErrorKind::too_large);
  EXPECT_EQ(elements_of("[1]", 9, {.bytes = 2}).error().kind(), ErrorKind::too_large);
  for (const auto* const text : {"{}", "[1", "[1,]", "[,1]", "[1 2]", "[1]2", "", "[", "]", "[\"\\x\"]"}) {
    EXPECT_FALSE(elements_of(text, 9)) << text;
  }
}

TEST(Scan, SurvivesTruncationAtEveryByte) {
  const std::string text =
      R"({"jsonrpc":"2.0","id":"x","method":"m","params":{"_meta":{"a":[1,{"b":"c\n"}]},"n":-1.5e3}})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(scan(std::string_view(text).substr(0, length))) << length;
  }
  EXPECT_TRUE(scan(text));
}

TEST(Scan, FindsTheEndOfAStringWhereverItsSpecialCharactersAre) {
  const auto message = [](std::string_view text) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"m","params":{{"text":"{}","next":[1]}}}})", text);
  };
  for (std::size_t length = 0; length < 200; ++length) {
    const std::string plain(length, 'x');
    EXPECT_EQ(scan(message(plain))->body.value("text"), '"' + plain + '"');
    for (std::size_t at = 0; at < length; ++at) {
      const std::string quote = plain.substr(0, at) + "\\\"" + plain.substr(at);
      const std::string escaped = message(quote);
      const auto scanned = scan(escaped);
      ASSERT_TRUE(scanned) << escaped;
      EXPECT_EQ(scanned->body.value("text"), '"' + quote + '"');
      EXPECT_EQ(scanned->body.value("next"), "[1]");
      std::string wrong = plain;
      for (const char special : {'\x01', '\n', '"', '\\', '\x80'}) {
        wrong[at] = special;
        EXPECT_FALSE(scan(message(wrong))) << length << ' ' << at << ' ' << int(special);
      }
    }
  }
}

TEST(Scan, ReadsALargeText) {
  std::string text = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":")" + std::string(3 << 20, 'x') + "\"}}";
  EXPECT_EQ(scan(text)->body.value("a").size(), (3U << 20U) + 2);
  EXPECT_TRUE(scan(R"({"jsonrpc":"2.0","id":1,"method":"m"})"));
}

// Long keys that differ only at their ends are distinguished, and duplicates of them are found.
TEST(Scan, RefusesALongKeyThatAppearsTwice) {
  const auto text = [](std::string_view last) {
    std::string params;
    for (int i = 0; i < 100; ++i)
      params += "\"" + std::string(1000, 'k') + std::to_string(100 + i) + "\":1,";
    return R"({"jsonrpc":"2.0","id":1,"method":"m","params":{)" + params + "\"" + std::string(1000, 'k') +
           std::string(last) + "\":2}}";
  };
  EXPECT_TRUE(scan(text("200")));
  const auto twice = scan(text("150"));
  ASSERT_FALSE(twice);
  EXPECT_TRUE(twice.error().message().contains("appears twice"));
}

}  // namespace
}  // namespace proteus::json
