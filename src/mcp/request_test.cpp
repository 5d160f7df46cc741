#include "mcp/request.hpp"

#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mcp/errors.hpp"

namespace proteus::mcp {
namespace {

const std::string kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string call(std::string_view method, std::string_view params) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":"a","method":"{}","params":{{{}}}}})", method, params);
}

using Headers = std::map<std::string, std::string, std::less<>>;

HeaderLookup lookup_in(const Headers& headers) {
  return [&headers](std::string_view name) -> std::optional<std::string_view> {
    const auto found = headers.find(name);
    return found == headers.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
}

// A message and the decoded request, which points into the message.
struct Decoded {
  std::string text;
  Result<json::Message> message;
  Result<Request> request;
};

Decoded decode_modern(std::string text, const HeaderLookup& lookup = {}, Eras eras = {}) {
  Decoded decoded{std::move(text), std::unexpected(proteus::errors::internal("")),
                  std::unexpected(proteus::errors::internal(""))};
  decoded.message = json::scan(decoded.text);
  decoded.request = modern::decode(*decoded.message, lookup, eras);
  return decoded;
}

int code_of(const Decoded& decoded) { return decoded.request ? 0 : decoded.request.error().rpc_code(); }

TEST(ModernRequest, CarriesAllThatASessionWouldKnow) {
  const std::string text = call("tools/call", R"("name":"a\u0064d","arguments":{"a":1},"_meta":{
      "io.modelcontextprotocol/protocolVersion":"2026-07-28",
      "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
      "io.modelcontextprotocol/clientCapabilities":{"roots":{}},
      "io.modelcontextprotocol/logLevel":"w\u0061rning","progressToken":"p\u0031","x":1})");
  auto message = json::scan(text);
  const auto request = modern::decode(*message, {}, {});
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(request->version, kModern);
  EXPECT_EQ(request->era(), Era::modern);
  EXPECT_EQ(request->method->method, Method::tools_call);
  EXPECT_EQ(request->id(), "\"a\"");
  EXPECT_EQ(request->name, "add");
  EXPECT_EQ(request->client_capabilities, R"({"roots":{}})");
  EXPECT_EQ(request->client_info, R"({"name":"c","version":"1"})");
  EXPECT_EQ(request->progress_token, R"("p\u0031")") << "goes back as it came";
  EXPECT_EQ(request->log_level, LogLevel::warning);
  EXPECT_EQ(request->param("arguments"), R"({"a":1})");
}

TEST(ModernRequest, NeedsNoMoreThanVersionAndCapabilities) {
  const auto decoded = decode_modern(call("tools/list", kMeta));
  ASSERT_TRUE(decoded.request);
  EXPECT_TRUE(decoded.request->client_info.empty());
  EXPECT_TRUE(decoded.request->progress_token.empty());
  EXPECT_EQ(decoded.request->log_level, std::nullopt) << "and then no log message may be sent";
}

// PRO-03: -32602 and 400 for a request without the required `_meta`.
TEST(ModernRequest, WithoutItsMetaIsMalformed) {
  for (
      const auto* const params :
      {R"("a":1)", R"("_meta":{})", R"("_meta":null)", R"("_meta":[])",
       R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})",
       R"("_meta":{"io.modelcontextprotocol/clientCapabilities":{}})",
       R"("_meta":{"io.modelcontextprotocol/protocolVersion":20260728,"io.modelcontextprotocol/clientCapabilities":{}})",
       R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]})",
       R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":"me"})"}) {
    const auto decoded = decode_modern(call("server/discover", params));
    EXPECT_EQ(code_of(decoded), code::kInvalidParams) << params;
    EXPECT_EQ(http_status(decoded.request.error(), Era::modern), 400U) << params;
  }
}

// PRO-03
TEST(ModernRequest, OfAnotherVersionIsToldWhichThereAre) {
  for (const auto* const version : {"2025-11-25", "1900-01-01", "", "2026-07-28x"}) {
    const auto decoded =
        decode_modern(call("unknown/method", fmt::format(R"("_meta":{{"io.modelcontextprotocol/protocolVersion":"{}",)"
                                                         R"("io.modelcontextprotocol/clientCapabilities":{{}}}})",
                                                         version)));
    EXPECT_EQ(code_of(decoded), code::kUnsupportedVersion) << version;
    EXPECT_EQ(http_status(decoded.request.error(), Era::modern), 400U);
  }
  EXPECT_EQ(code_of(decode_modern(call("tools/list", kMeta), {}, {.legacy = true, .modern = false})),
            code::kUnsupportedVersion)
      << "a version that is known is not thereby spoken";
}

TEST(ModernRequest, OfAMethodTheEraDoesNotHaveIsNotFound) {
  for (const auto* const method : {"initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list", "x",
                                   "notifications/cancelled", "elicitation/create"}) {
    const auto decoded = decode_modern(call(method, kMeta));
    EXPECT_EQ(code_of(decoded), code::kMethodNotFound) << method;
    EXPECT_EQ(http_status(decoded.request.error(), Era::modern), 404U);
  }
}

TEST(ModernRequest, WithWrongParamsIsRefused) {
  for (const auto& [method, params] : {std::pair{"tools/call", R"("arguments":{})"},
                                       {"tools/call", R"("name":1)"},
                                       {"tools/call", R"("uri":"x")"},
                                       {"tools/call", R"("name":"x","arguments":[])"},
                                       {"tools/call", R"("name":"x","inputResponses":[])"},
                                       {"tools/call", R"("name":"x","requestState":{})"},
                                       {"prompts/get", R"("name":null)"},
                                       {"resources/read", R"("name":"x")"},
                                       {"resources/read", R"("uri":["x"])"},
                                       {"tools/list", R"("cursor":1)"},
                                       {"prompts/list", R"("cursor":null)"}}) {
    const auto decoded = decode_modern(call(method, std::string(params) + "," + kMeta));
    EXPECT_EQ(code_of(decoded), code::kInvalidParams) << method << " " << params;
    EXPECT_EQ(http_status(decoded.request.error(), Era::modern), 200U);
  }
  for (const auto* const extra :
       {R"("progressToken":1.5)", R"("progressToken":null)", R"("progressToken":{})",
        R"("io.modelcontextprotocol/logLevel":"loud")", R"("io.modelcontextprotocol/logLevel":3)",
        R"("io.modelcontextprotocol/logLevel":null)"}) {
    const std::string meta = kMeta.substr(0, kMeta.size() - 1) + "," + extra + "}";
    EXPECT_EQ(code_of(decode_modern(call("tools/list", meta))), code::kInvalidParams) << extra;
  }
}

TEST(ModernRequest, MayHaveAnEmptyCursorAndName) {
  EXPECT_TRUE(decode_modern(call("tools/list", R"("cursor":"",)" + kMeta)).request);
  EXPECT_TRUE(decode_modern(call("tools/call", R"("name":"",)" + kMeta)).request);
}

// PRO-04: the headers must match the body.
TEST(ModernHeaders, ThatRepeatTheBodyAreAccepted) {
  const Headers headers{
      {"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "=?base64?w6k=?="}};
  EXPECT_TRUE(decode_modern(call("tools/call", R"("name":"\u00e9",)" + kMeta), lookup_in(headers)).request);
  const Headers list{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/list"}};
  EXPECT_TRUE(decode_modern(call("tools/list", kMeta), lookup_in(list)).request);
  const Headers read{
      {"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "resources/read"}, {"Mcp-Name", "file:///a b"}};
  EXPECT_TRUE(decode_modern(call("resources/read", R"("uri":"file:///a b",)" + kMeta), lookup_in(read)).request);
}

// PRO-04
TEST(ModernHeaders, ThatAreMissingOrSaySomethingElseAreRefused) {
  const Headers right{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "add"}};
  const std::string text = call("tools/call", R"("name":"add",)" + kMeta);
  ASSERT_TRUE(decode_modern(text, lookup_in(right)).request);
  for (const auto& [name, value] : right) {
    Headers missing = right;
    missing.erase(name);
    Headers different = right;
    different[name] = value + "x";
    Headers upper = right;
    upper[name] = "TOOLS/CALL";
    Headers encoded = right;
    encoded[name] = "=?base64?" + value + "?=";
    for (const Headers& headers : {missing, different, upper, encoded}) {
      const auto decoded = decode_modern(text, lookup_in(headers));
      EXPECT_EQ(code_of(decoded), code::kHeaderMismatch) << name;
      EXPECT_EQ(http_status(decoded.request.error(), Era::modern), 400U);
    }
  }
}

// PRO-04
TEST(ModernHeaders, AreComparedBeforeTheVersionIsJudged) {
  const std::string unknown = call(
      "tools/list",
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"v999","io.modelcontextprotocol/clientCapabilities":{}})");
  const Headers other{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/list"}};
  EXPECT_EQ(code_of(decode_modern(unknown, lookup_in(other))), code::kHeaderMismatch);
  const Headers same{{"MCP-Protocol-Version", "v999"}, {"Mcp-Method", "tools/list"}};
  EXPECT_EQ(code_of(decode_modern(unknown, lookup_in(same))), code::kUnsupportedVersion);
}

TEST(ModernHeaders, AreNotAskedForWhereTheTransportHasNone) {
  EXPECT_TRUE(decode_modern(call("tools/call", R"("name":"add",)" + kMeta)).request);
}

TEST(Claims, AMessageForTheModernEraByMetaOrHeaderNeverByMethod) {
  const auto claims = [](const std::string& text, std::optional<std::string_view> header) {
    return modern::claims(*json::scan(text), header);
  };
  EXPECT_TRUE(claims(call("tools/list", kMeta), std::nullopt));
  EXPECT_TRUE(claims(call("initialize", kMeta), std::nullopt));
  EXPECT_TRUE(claims(call("tools/list", R"("_meta":{"io.modelcontextprotocol/clientCapabilities":1})"), std::nullopt));
  EXPECT_TRUE(claims(call("tools/list", ""), "2026-07-28"));
  EXPECT_TRUE(claims(call("tools/list", kMeta), "2025-11-25")) << "and is then refused for the mismatch";
  EXPECT_FALSE(claims(call("server/discover", ""), std::nullopt));
  EXPECT_FALSE(claims(call("initialize", R"("protocolVersion":"2026-07-28")"), std::nullopt));
  EXPECT_FALSE(claims(call("tools/list", R"("_meta":{"progressToken":1})"), "2025-11-25"));
  EXPECT_FALSE(claims(call("tools/list", ""), "2099-01-01"));
}

Decoded decode_legacy(std::string text, const legacy::SessionFacts& facts = {}) {
  Decoded decoded{std::move(text), std::unexpected(proteus::errors::internal("")),
                  std::unexpected(proteus::errors::internal(""))};
  decoded.message = json::scan(decoded.text);
  decoded.request = legacy::decode(*decoded.message, facts);
  return decoded;
}

TEST(LegacyRequest, KnowsWhatTheClientSaidAtTheStartOfItsSession) {
  const auto decoded = decode_legacy(call("tools/call", R"("name":"add","_meta":{"progressToken":7})"),
                                     {Version::v2025_06_18, R"({"roots":{}})", R"({"name":"c"})", LogLevel::error});
  ASSERT_TRUE(decoded.request);
  EXPECT_EQ(decoded.request->version, Version::v2025_06_18);
  EXPECT_EQ(decoded.request->era(), Era::legacy);
  EXPECT_EQ(decoded.request->client_capabilities, R"({"roots":{}})");
  EXPECT_EQ(decoded.request->client_info, R"({"name":"c"})");
  EXPECT_EQ(decoded.request->log_level, LogLevel::error);
  EXPECT_EQ(decoded.request->progress_token, "7");
  EXPECT_EQ(decoded.request->name, "add");
}

TEST(LegacyRequest, OfAMethodTheEraDoesNotHaveIsNotFoundAnswered200) {
  for (const auto* const method :
       {"server/discover", "subscriptions/listen", "notifications/initialized", "roots/list"}) {
    const auto decoded = decode_legacy(call(method, ""));
    EXPECT_EQ(code_of(decoded), code::kMethodNotFound) << method;
    EXPECT_EQ(http_status(decoded.request.error(), Era::legacy), 200U);
  }
}

TEST(LegacyRequest, WithWrongParamsIsRefused) {
  for (const auto& [method, params] : {std::pair{"resources/subscribe", R"("uri":1)"},
                                       {"resources/unsubscribe", ""},
                                       {"resources/read", ""},
                                       {"tools/call", R"("name":{})"},
                                       {"tools/list", R"("cursor":{})"},
                                       {"ping", R"("_meta":1)"},
                                       {"ping", R"("_meta":{"progressToken":true})"}}) {
    EXPECT_EQ(code_of(decode_legacy(call(method, params))), code::kInvalidParams) << method << params;
  }
}

// PRO-13: keys of `_meta` that have a meaning only in the modern era belong to the caller in the legacy era.
TEST(LegacyRequest, TakesNothingFromMetaOfTheOtherEra) {
  const auto decoded = decode_legacy(call(
      "tools/list", R"("_meta":{"io.modelcontextprotocol/logLevel":"loud","io.modelcontextprotocol/clientInfo":1})"));
  ASSERT_TRUE(decoded.request);
  EXPECT_EQ(decoded.request->log_level, std::nullopt);
  EXPECT_TRUE(decoded.request->client_info.empty());
}

}  // namespace
}  // namespace proteus::mcp
