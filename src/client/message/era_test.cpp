#include "client/message/era.hpp"

#include <gtest/gtest.h>

namespace proteus::client {
namespace {

Reply bad_request(std::string_view id, std::string_view message) {
  Reply reply{.status = 400, .message = {}, .excerpt = {}};
  reply.message =
      Received::scan(
          fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":-32000,"message":"{}"}}}})", id, message), {})
          .value();
  return reply;
}

// REF-20
TEST(SessionUnknown, IsWhatServersSayWhenTheyHaveNotReadTheRequest) {
  EXPECT_TRUE(says_session_unknown({.status = 404, .message = {}, .excerpt = {}}));
  for (const auto* text : {"Bad Request: No valid session ID provided", "Bad Request: Unknown Mcp-Session-Id header",
                           "No valid session ID or not an initialize request", "No active session", "Session not found",
                           "Invalid session", "session has expired"}) {
    EXPECT_TRUE(says_session_unknown(bad_request("null", text))) << text;
    EXPECT_TRUE(says_session_unknown(bad_request("\"server-error\"", text))) << text;
    EXPECT_TRUE(says_session_unknown({.status = 400, .message = {}, .excerpt = text})) << text;
  }
}

TEST(SessionUnknown, IsNotWhatAnAnswerToTheRequestSays) {
  for (const auto* text : {"Session not found", "your shopping session has expired"})
    EXPECT_FALSE(says_session_unknown(bad_request("7", text))) << text;
  for (const auto* text : {"too many sessions", "The session could not be saved", "obsession", "no such colour"}) {
    EXPECT_FALSE(says_session_unknown(bad_request("null", text))) << text;
    EXPECT_FALSE(says_session_unknown({.status = 400, .message = {}, .excerpt = text})) << text;
  }
  EXPECT_FALSE(says_session_unknown({.status = 403, .message = {}, .excerpt = "Session not found"}));
}

}  // namespace
}  // namespace proteus::client
