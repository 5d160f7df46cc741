#include "mcp/errors.hpp"

#include <gtest/gtest.h>

#include "mcp/insufficient_scope.hpp"
#include "mcp/jsonrpc.hpp"
#include "mcp/protocol_schema_test.hpp"

namespace proteus::mcp {
namespace {

struct Expected {
  Error error;
  int modern_code;
  unsigned modern_status;
  int legacy_code;
  unsigned legacy_status;
};

// PRO-03, PRO-16: codes and statuses of 2026-07-28 ("Error Codes", "Server Validation") and, in a session, of JSON-RPC.
TEST(Errors, HaveTheCodeAndTheStatusOfTheEra) {
  const Expected table[] = {
      {proteus::errors::invalid("not JSON").with_rpc_code(code::kParseError), -32700, 400, -32700, 400},
      {errors::invalid_request("no method"), -32600, 400, -32600, 400},
      {proteus::errors::too_large("the message", 9).with_rpc_code(code::kInvalidRequest), -32600, 413, -32600, 413},
      {errors::method_not_found("tasks/list"), -32601, 404, -32601, 200},
      {errors::invalid_params("no such cursor"), -32602, 200, -32602, 200},
      {errors::malformed_meta("no version"), -32602, 400, -32602, 200},
      {errors::unknown_tool("x"), -32602, 200, -32602, 200},
      {errors::unknown_prompt("x"), -32602, 200, -32602, 200},
      {errors::resource_not_found("file:///x"), -32602, 200, -32002, 200},
      {errors::header_mismatch("x"), -32020, 400, -32020, 400},
      {errors::missing_capability(R"({"sampling":{}})"), -32021, 400, -32021, 200},
      {errors::unsupported_version("1900-01-01", {}), -32022, 400, -32022, 400},
      {proteus::errors::internal("x"), -32603, 200, -32603, 200},
      {proteus::errors::timeout("x"), -32603, 200, -32603, 200},
      {proteus::errors::not_found("x"), -32602, 200, -32602, 200},
      {proteus::errors::unsupported("x"), -32601, 404, -32601, 200},
      {proteus::errors::forbidden("x"), -32603, 200, -32603, 200},
      {errors::insufficient_scope({"b"}, {"a", "b"}), -32600, 403, -32600, 403},
  };
  for (const auto& [error, modern_code, modern_status, legacy_code, legacy_status] : table) {
    EXPECT_EQ(rpc_code(error, Era::modern), modern_code) << error.message();
    EXPECT_EQ(http_status(error, Era::modern), modern_status) << error.message();
    EXPECT_EQ(rpc_code(error, Era::legacy), legacy_code) << error.message();
    EXPECT_EQ(http_status(error, Era::legacy), legacy_status) << error.message();
  }
}

TEST(Errors, OfAPeerKeepTheirCodeAndAreAnswersLikeOthers) {
  for (const int code : {-32700, -32600, -32601, -32602, -32603, -32000, 1, 404, -1, INT32_MIN}) {
    for (const Era era : {Era::legacy, Era::modern}) {
      const Error error = errors::remote(code, "m", "");
      EXPECT_EQ(rpc_code(error, era), code);
      EXPECT_EQ(http_status(error, era), 200U) << code;
    }
  }
  EXPECT_EQ(http_status(errors::remote(-32021, "m", R"({"requiredCapabilities":{}})"), Era::modern), 400U);
}

// A peer that rejects our headers or our version does not reject the caller's. The caller would act on such an error.
TEST(Errors, OfAPeerAboutOurOwnRequestAreInternalToACaller) {
  for (const int code : {code::kHeaderMismatch, code::kUnsupportedVersion}) {
    for (const Era era : {Era::legacy, Era::modern})
      EXPECT_EQ(rpc_code(errors::remote(code, "m", ""), era), -32603);
  }
}

// BRG-08: a modern server must send neither legacy codes nor reserved codes without a meaning.
TEST(Errors, OfThePastAreTranslatedForTheModernEra) {
  EXPECT_EQ(rpc_code(errors::remote(-32002, "m", ""), Era::modern), -32602);
  EXPECT_EQ(rpc_code(errors::remote(-32042, "m", ""), Era::modern), -32602);
  EXPECT_EQ(rpc_code(errors::remote(-32002, "m", ""), Era::legacy), -32002);
  EXPECT_EQ(rpc_code(errors::remote(-32042, "m", ""), Era::legacy), -32042);
  for (int code = -32099; code <= -32020; ++code) {
    const int written = rpc_code(errors::remote(code, "m", ""), Era::modern);
    EXPECT_TRUE(written > -32020 || written < -32099 || is_modern_code(written)) << code;
  }
}

TEST(Errors, ThatIdentifyAModernServerAreThree) {
  for (int code = -33000; code <= 0; ++code)
    EXPECT_EQ(is_modern_code(code), code == -32020 || code == -32021 || code == -32022) << code;
}

// PRO-03
TEST(Errors, ConformToTheSchemaOfTheirOwn) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  EXPECT_TRUE(conforms(kModern, "UnsupportedProtocolVersionError",
                       write_error("1", errors::unsupported_version("19\"00", {}), Era::modern)));
  EXPECT_TRUE(conforms(kModern, "HeaderMismatchError", write_error("1", errors::header_mismatch("x"), Era::modern)));
  EXPECT_TRUE(conforms(kModern, "MissingRequiredClientCapabilityError",
                       write_error("\"a\"", errors::missing_capability(R"({"elicitation":{"url":{}}})"), Era::modern)));
}

TEST(Errors, SayWhatIsSupportedAndWhatWasAskedFor) {
  const auto data = json::parse(errors::unsupported_version("1900-01-01", {.legacy = false, .modern = true}).data());
  EXPECT_EQ(*data, *json::parse(R"({"supported":["2026-07-28"],"requested":"1900-01-01"})"));
  EXPECT_EQ(*json::parse(errors::resource_not_found("file:///\"x\"").data()),
            *json::parse(R"({"uri":"file:///\"x\""})"));
}

// SEC-03: a name of one megabyte does not cause a message of one megabyte.
TEST(Errors, RepeatWhatWasSentOnlyInPart) {
  const std::string huge(1'000'000, 'x');
  for (const Error& error : {errors::method_not_found(huge), errors::unknown_tool(huge), errors::unknown_prompt(huge),
                             errors::resource_not_found(huge), errors::unsupported_version(huge, {})}) {
    EXPECT_LT(error.message().size(), 1000U);
  }
  EXPECT_LT(errors::unsupported_version(huge, {}).data().size(), 1000U);
}

// OAU-08
TEST(Errors, AboutScopesNameAllThatAClientShouldAskFor) {
  const Error error = errors::insufficient_scope({"b"}, {"a", "b"});
  EXPECT_TRUE(lacks_scope(error));
  EXPECT_EQ(scopes_to_request(error), "a b");
  EXPECT_FALSE(lacks_scope(proteus::errors::forbidden("x")));
  const Error of_a_peer = errors::remote(-32600, "m", R"({"error":"insufficient_scope","scope":"a"})");
  EXPECT_FALSE(lacks_scope(of_a_peer)) << "which is about the gateway's credentials, not the caller's";
  EXPECT_EQ(http_status(of_a_peer, Era::modern), 200U);
}

}  // namespace
}  // namespace proteus::mcp
