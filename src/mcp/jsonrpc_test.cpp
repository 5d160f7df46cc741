#include "mcp/jsonrpc.hpp"

#include <gtest/gtest.h>

#include "json/message.hpp"
#include "mcp/errors.hpp"
#include "mcp/meta.hpp"
#include "mcp/protocol_schema_test.hpp"

namespace proteus::mcp {
namespace {

const MethodInfo& modern_method(std::string_view name) { return *find_method(Era::modern, Sender::client, name); }
const MethodInfo& legacy_method(std::string_view name) { return *find_method(Era::legacy, Sender::client, name); }

constexpr std::string_view kInfo = R"({"name":"proteus","version":"0.1.0"})";
constexpr ResultStyle kModernStyle{Era::modern, kInfo, {}};
constexpr ResultStyle kLegacyStyle{Era::legacy, kInfo, {}};

Reply reply(std::string members, std::string meta = {}, Caching caching = {}) {
  return {Payload(std::move(members)), std::move(meta), caching};
}

// PRO-12: every kind of message has the id unchanged.
TEST(Messages, CarryTheIdAsItWasWritten) {
  for (const std::string id : {"0", "-1", "123456789012345678901234567890", R"("")", R"("a\u0041\"")", R"("9")"}) {
    const std::string texts[] = {
        write_request(id, "tools/list", "{}"),
        write_error(id, proteus::errors::internal("x"), Era::modern),
        write_result(id, modern_method("tools/call"), reply(R"("content":[])"), kModernStyle),
        write_result(id, legacy_method("ping"), {}, kLegacyStyle),
        write_input_required(id, {}, "state", kModernStyle),
    };
    for (const std::string& text : texts) {
      const auto message = json::scan(text);
      ASSERT_TRUE(message) << text;
      EXPECT_NE(message->kind, json::MessageKind::invalid) << message->fault;
      EXPECT_EQ(message->id, id);
    }
  }
}

TEST(Messages, KeepParamsAsTheyAreAndLeaveEmptyOnesOut) {
  EXPECT_EQ(write_request("1", "tools/list", ""), R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  EXPECT_EQ(write_request("1", "tools/list", R"({ "a": 1.00 })"),
            R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{ "a": 1.00 }})");
  EXPECT_EQ(write_notification("notifications/x", ""), R"({"jsonrpc":"2.0","method":"notifications/x"})");
  const std::string odd = write_request("1", "a\"b\\\n", "");
  EXPECT_EQ(json::scan(odd)->method, "a\"b\\\n");
}

TEST(ErrorMessage, SaysWhatWentWrongWithItsData) {
  EXPECT_EQ(write_error("7", errors::remote(-5, "say \"no\"\n", R"({"x":[1]})"), Era::modern),
            R"({"jsonrpc":"2.0","id":7,"error":{"code":-5,"message":"say \"no\"\n","data":{"x":[1]}}})");
  const std::string text = write_error("", proteus::errors::invalid("x").with_rpc_code(code::kParseError), Era::modern);
  EXPECT_EQ(text, R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}})");
}

TEST(ErrorMessage, ConformsToEveryRevision) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  const Error samples[] = {errors::invalid_params("x"), errors::resource_not_found("file:///x"),
                           errors::remote(-32042, "m", R"({"elicitations":[]})"), proteus::errors::internal("\xff")};
  for (const Error& error : samples) {
    for (const Version version : kAllVersions)
      EXPECT_TRUE(error_conforms(version, write_error("\"a\"", error, era_of(version))));
  }
  // The schema allows errors without an id since 2025-11-25. Before, only the transport allowed them.
  for (const Version version : {Version::v2025_11_25, Version::v2026_07_28})
    EXPECT_TRUE(error_conforms(version, write_error("", errors::invalid_request("x"), era_of(version))));
}

TEST(ErrorMessage, ReadsBackAsItWasWritten) {
  const Error error = errors::remote(-32602, "no \"such\" tool\n", R"({"uri":"x"})");
  const std::string text = write_error("1", error, Era::modern);
  const Error read = read_error(json::scan(text)->error);
  EXPECT_EQ(read.kind(), ErrorKind::remote);
  EXPECT_EQ(read.rpc_code(), error.rpc_code());
  EXPECT_EQ(read.message(), error.message());
  EXPECT_EQ(read.data(), error.data());
}

TEST(ErrorMessage, OfAPeerIsReadHoweverOddItIs) {
  EXPECT_EQ(read_error("{}").rpc_code(), -32603);
  EXPECT_EQ(read_error(R"({"code":"x","message":5})").rpc_code(), -32603);
  EXPECT_EQ(read_error(R"({"code":1e3,"message":"m"})").rpc_code(), -32603);
  EXPECT_EQ(read_error(R"({"code":99999999999999999999,"message":"m"})").rpc_code(), -32603);
  EXPECT_EQ(read_error(R"({"code":2147483648,"message":"m"})").rpc_code(), -32603);
  EXPECT_EQ(read_error(R"({"code":-2147483648,"message":"m"})").rpc_code(), INT32_MIN);
  EXPECT_EQ(read_error("[]").kind(), ErrorKind::protocol);
  EXPECT_EQ(read_error("").kind(), ErrorKind::protocol);
}

// PRO-07: only the results that must have caching hints have them.
TEST(Result, OfAModernMethodIsStamped) {
  EXPECT_EQ(
      write_result("1", modern_method("tools/list"), reply(R"("tools":[])"), {Era::modern, {}, {}}),
      R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]}})");
  EXPECT_EQ(
      write_result("1", modern_method("resources/read"),
                   reply(R"("contents":[])", "", {std::chrono::minutes(1), CacheScope::shared}), {Era::modern, {}, {}}),
      R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":60000,"cacheScope":"public","contents":[]}})");
  EXPECT_EQ(write_result("1", modern_method("tools/call"), reply(R"("content":[])"), {Era::modern, {}, {}}),
            R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}})");
  EXPECT_EQ(write_result("1", modern_method("tools/call"), {}, {Era::modern, {}, {}}),
            R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}})");
}

// PRO-07
TEST(Result, NeverHasANegativeTimeToLive) {
  const std::string text = write_result("1", modern_method("tools/list"),
                                        reply(R"("tools":[])", "", {std::chrono::milliseconds(-5)}), kModernStyle);
  EXPECT_EQ(json::scan(text)->body.value("ttlMs"), "0");
}

// PRO-07
TEST(Result, OfALegacyMethodIsNotStamped) {
  EXPECT_EQ(write_result("1", legacy_method("tools/list"),
                         reply(R"("tools":[])", "", {std::chrono::minutes(1), CacheScope::shared}), kLegacyStyle),
            R"({"jsonrpc":"2.0","id":1,"result":{"tools":[]}})");
  EXPECT_EQ(write_result("1", legacy_method("ping"), {}, kLegacyStyle), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(write_result("1", legacy_method("ping"), reply("", R"("a":1)"), kLegacyStyle),
            R"({"jsonrpc":"2.0","id":1,"result":{"_meta":{"a":1}}})");
  EXPECT_EQ(write_result("1", legacy_method("tools/call"), reply(R"("content":[])", R"("a":1)"), kLegacyStyle),
            R"({"jsonrpc":"2.0","id":1,"result":{"content":[],"_meta":{"a":1}}})");
}

TEST(Result, SaysWhoAnsweredInTheModernEra) {
  const std::string text =
      write_result("1", modern_method("tools/call"), reply(R"("content":[])", R"("a":1)"), kModernStyle);
  const auto message = json::scan(text);
  EXPECT_EQ(message->meta.value(meta::kServerInfo), kInfo);
  EXPECT_EQ(message->meta.value("a"), "1");
}

// PRO-13: members stay unchanged, byte for byte.
TEST(Result, KeepsEveryMemberAsItIs) {
  const std::string members = R"("content":[ {"type":"new-kind","x-y":1.00,"é":"\u00e9"} ], "unknown" : {"a":[1e2]})";
  for (const ResultStyle& style : {kModernStyle, kLegacyStyle}) {
    const std::string text = write_result("1", modern_method("tools/call"), reply(members, R"("x/y": 1.0)"), style);
    EXPECT_NE(text.find(members), std::string::npos);
    EXPECT_NE(text.find(R"("x/y": 1.0)"), std::string::npos);
  }
}

TEST(Result, IsTheFrameAroundItsPayload) {
  Reply made;
  made.members.add(R"("tools":[)");
  made.members.add(std::make_shared<const std::string>(R"({"name":"a"},)"));
  const auto owner = std::make_shared<const std::string>(R"(xx{"name":"b"}xx)");
  made.members.add(std::string_view(*owner).substr(2, 12), owner);
  made.members.add(std::string());
  made.members.add("]");
  const ResultFrame frame = frame_result("1", modern_method("tools/list"), made, kModernStyle);
  EXPECT_EQ(std::string(frame.head()) + made.members.str() + std::string(frame.tail()),
            write_result("1", modern_method("tools/list"), made, kModernStyle));
  EXPECT_EQ(made.members.str(), R"("tools":[{"name":"a"},{"name":"b"}])");
}

struct Sample {
  const char* method;
  const char* modern_definition;
  const char* legacy_definition;  // definition of the result
  const char* members;
};
constexpr Sample kSamples[] = {
    {"tools/list", "ListToolsResultResponse", "ListToolsResult",
     R"("tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"c")"},
    {"tools/call", "CallToolResultResponse", "CallToolResult",
     R"("content":[{"type":"text","text":"x"}],"isError":true)"},
    {"prompts/list", "ListPromptsResultResponse", "ListPromptsResult", R"("prompts":[{"name":"p"}])"},
    {"prompts/get", "GetPromptResultResponse", "GetPromptResult",
     R"("messages":[{"role":"user","content":{"type":"text","text":"x"}}])"},
    {"resources/list", "ListResourcesResultResponse", "ListResourcesResult",
     R"("resources":[{"uri":"file:///x","name":"x"}])"},
    {"resources/templates/list", "ListResourceTemplatesResultResponse", "ListResourceTemplatesResult",
     R"("resourceTemplates":[{"uriTemplate":"file:///{x}","name":"x"}])"},
    {"resources/read", "ReadResourceResultResponse", "ReadResourceResult",
     R"("contents":[{"uri":"file:///x","text":"x"}])"},
    {"completion/complete", "CompleteResultResponse", "CompleteResult", R"("completion":{"values":["a"]})"},
};

// PRO-07
TEST(Result, ConformsToTheRevisionItIsWrittenFor) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  for (const Sample& sample : kSamples) {
    const Reply made = reply(sample.members, R"("com.example/x":1)", {std::chrono::seconds(1), CacheScope::shared});
    const std::string modern = write_result("1", modern_method(sample.method), made, kModernStyle);
    EXPECT_TRUE(conforms(kModern, sample.modern_definition, modern));
    EXPECT_TRUE(result_conforms(kModern, sample.legacy_definition, modern)) << "not as an input-required result";
    const std::string legacy = write_result("\"a\"", legacy_method(sample.method), made, kLegacyStyle);
    for (const Version version :
         {Version::v2024_11_05, Version::v2025_03_26, Version::v2025_06_18, Version::v2025_11_25})
      EXPECT_TRUE(result_conforms(version, sample.legacy_definition, legacy));
  }
  EXPECT_TRUE(
      result_conforms(kNewestLegacy, "EmptyResult", write_result("1", legacy_method("ping"), {}, kLegacyStyle)));
}

// PRO-05: the end of a subscription is tagged with its id, like all its messages.
TEST(Result, OfASubscriptionThatEndsConforms) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  const Reply made = reply("", R"("io.modelcontextprotocol/subscriptionId":"a")");
  EXPECT_TRUE(conforms(kModern, "SubscriptionsListenResultResponse",
                       write_result("\"a\"", modern_method("subscriptions/listen"), made, kModernStyle)));
}

InputRequired everything_required() {
  return {
      {{"who \"you\"", Method::elicit,
        R"({"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}})"},
       {"link", Method::elicit, R"({"mode":"url","message":"m","url":"https://example.com/x"})"},
       {"model", Method::create_message,
        R"({"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":9})"},
       {"roots", Method::list_roots, ""}},
      "of the handler, not for the wire"};
}

TEST(InputRequiredResult, ConformsAndIsNoCompleteOne) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  for (const auto& required : {everything_required(), InputRequired{}}) {
    const std::string text = write_input_required("1", required, "st\"ate", kModernStyle);
    for (const auto* const response :
         {"CallToolResultResponse", "GetPromptResultResponse", "ReadResourceResultResponse"})
      EXPECT_TRUE(conforms(kModern, response, text));
    EXPECT_TRUE(result_conforms(kModern, "InputRequiredResult", text));
    EXPECT_FALSE(result_conforms(kModern, "ReadResourceResult", text));
  }
}

TEST(InputRequiredResult, CarriesTheRequestsTheStateAndNoCachingHints) {
  const std::string text = write_input_required("1", everything_required(), "st\"ate", kModernStyle);
  const auto result = json::parse(text)->at("result");
  EXPECT_EQ(result.at("resultType").as_string(), "input_required");
  EXPECT_EQ(result.at("requestState").as_string(), "st\"ate");
  EXPECT_EQ(result.at("inputRequests").at("who \"you\"").at("method").as_string(), "elicitation/create");
  EXPECT_EQ(result.at("inputRequests").at("model").at("params").at("maxTokens").as_int64(), 9);
  EXPECT_EQ(result.at("inputRequests").at("roots"), *json::parse(R"({"method":"roots/list"})"));
  EXPECT_FALSE(result.as_object().contains("ttlMs"));
  EXPECT_EQ(text.find("of the handler"), std::string::npos);
  EXPECT_EQ(write_input_required("1", {}, "s", {Era::modern, {}, {}}),
            R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}})");
}

}  // namespace
}  // namespace proteus::mcp
