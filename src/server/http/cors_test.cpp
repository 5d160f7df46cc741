#include "server/http/cors.hpp"

#include <gtest/gtest.h>

#include "server/testing/test_server.hpp"

namespace proteus::server {
namespace {

constexpr const char* kPage = "Origin: https://app.example.com\r\n";
constexpr const char* kPreflight =
    "Origin: https://app.example.com\r\nAccess-Control-Request-Method: POST\r\n"
    "Access-Control-Request-Headers: authorization,content-type,mcp-param-region\r\n";

class Cors : public ::testing::Test {
 protected:
  Cors() : server({.name = "test", .version = "1"}, {.tools = true}) {
    HttpOptions options;
    options.allowed_origins = {"https://app.example.com"};
    options.max_body = 100'000;
    options.authenticate = [](std::string_view authorization) -> Result<std::string> {
      if (authorization == "Bearer good") return "agent";
      return std::unexpected(errors::unauthenticated("who?"));
    };
    port = server.listen(options).value();
  }
  RawClient::Answer ask(std::string_view method, std::string_view fields, std::string_view body = {}) const {
    RawClient client(port);
    return client.request(method, fields, body);
  }

  Server server;
  std::uint16_t port = 0;
};

void expect_readable(const RawClient::Answer& answer) {
  EXPECT_EQ(answer.field("access-control-allow-origin"), "https://app.example.com");
  EXPECT_EQ(answer.field("access-control-allow-credentials"), "");
  EXPECT_NE(answer.field("access-control-expose-headers").find("Mcp-Session-Id"), std::string::npos);
  EXPECT_EQ(answer.field("vary"), "Origin");
}

// PRO-20
TEST_F(Cors, APreflightOfAnAllowedOriginIsAnsweredWithoutCredentials) {
  const auto answer = ask("OPTIONS", kPreflight);
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.field("access-control-allow-origin"), "https://app.example.com");
  EXPECT_EQ(answer.field("access-control-allow-methods"), "GET, POST, DELETE, OPTIONS");
  EXPECT_EQ(answer.field("access-control-allow-headers"), "authorization,content-type,mcp-param-region");
  EXPECT_EQ(answer.field("access-control-allow-credentials"), "");
  EXPECT_EQ(answer.field("access-control-allow-private-network"), "");
  EXPECT_EQ(answer.field("access-control-max-age"), "7200");
}

// PRO-20
TEST_F(Cors, APageOfThePublicInternetMayCallAPrivateAddressWhereItIsAllowed) {
  const auto answer = ask("OPTIONS", std::string(kPreflight) + "Access-Control-Request-Private-Network: true\r\n");
  EXPECT_EQ(answer.field("access-control-allow-private-network"), "true");
}

// PRO-20
TEST_F(Cors, EveryAnswerToAnAllowedOriginCanBeRead) {
  const std::string good = std::string(kPage) + "Authorization: Bearer good\r\n";
  const std::string list = rpc("1", "tools/list", modern_meta());
  const auto unknown = ask("POST", kPage, "{}");
  EXPECT_EQ(unknown.status, 401);
  expect_readable(unknown);
  const auto answered = ask("POST", good + modern_fields("tools/list"), list);
  EXPECT_EQ(answered.status, 200);
  expect_readable(answered);
  const auto malformed = ask("POST", good, "{");
  EXPECT_EQ(malformed.status, 400);
  expect_readable(malformed);
  const auto wrong = ask("PUT", good, "{}");
  EXPECT_EQ(wrong.status, 405);
  expect_readable(wrong);
  const auto too_large = ask("POST", good, std::string(200'000, ' '));
  EXPECT_EQ(too_large.status, 413);
  const LegacyClient legacy(port, "2025-11-25", "{}", good);
  ASSERT_FALSE(legacy.session.empty());
  RawClient listening(port);
  listening.send_request("GET", legacy.fields());
  const auto stream = listening.read_answer();
  EXPECT_EQ(stream.status, 200);
  expect_readable(stream);
}

// PRO-20, PRO-11
TEST_F(Cors, OthersAreToldNothing) {
  for (const auto* const origin : {"https://evil.example", "https://app.example.com.evil.example", "null"}) {
    for (const auto* const method : {"OPTIONS", "POST"}) {
      const auto answer =
          ask(method, fmt::format("Origin: {}\r\nAccess-Control-Request-Method: POST\r\n", origin), "{}");
      EXPECT_EQ(answer.status, 403);
      for (const auto& [name, value] : answer.fields)
        EXPECT_FALSE(name.starts_with("access-control-")) << name;
    }
  }
}

// PRO-20
TEST_F(Cors, WhoIsNoPageIsToldTheMethodsAlone) {
  const auto answer = ask("OPTIONS", "");
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.field("allow"), "GET, POST, DELETE, OPTIONS");
  EXPECT_FALSE(answer.fields.contains("access-control-allow-methods"));
  EXPECT_FALSE(ask("POST", "", "{}").fields.contains("vary"));
}

}  // namespace
}  // namespace proteus::server
