// Tests of the log level that a legacy server is told.
#include <gtest/gtest.h>

#include "client/testing/legacy_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace test;

class LegacyLogLevel : public test::LegacyHttp {
 protected:
  LegacyLogLevel() {
    mcp.on["logging/setLevel"] = [this](const FakeRequest& request) {
      return status == 200 ? test::result(request, "{}") : FakeResponse{.status = status};
    };
  }
  int status = 200;
};

TEST_F(LegacyLogLevel, IsNotTakenForSetWhenTheServerCouldNotBeAsked) {
  status = 503;
  Client client(io, server.url(), test::quick());
  EXPECT_FALSE(client.run(client.connection.set_log_level(mcp::LogLevel::debug)));
  EXPECT_FALSE(client.connection.log_level());
  status = 200;
  EXPECT_TRUE(client.run(client.connection.set_log_level(mcp::LogLevel::debug)));
  EXPECT_EQ(client.connection.log_level(), mcp::LogLevel::debug);
  status = 503;
  EXPECT_FALSE(client.run(client.connection.set_log_level(mcp::LogLevel::info)));
  EXPECT_EQ(client.connection.log_level(), mcp::LogLevel::debug);
}

TEST_F(LegacyLogLevel, IsNotAskedForAgainWhereTheServerHasNone) {
  mcp.on.erase("logging/setLevel");
  Client client(io, server.url(), test::quick());
  EXPECT_FALSE(client.run(client.connection.set_log_level(mcp::LogLevel::debug)));
  EXPECT_EQ(client.connection.log_level(), mcp::LogLevel::debug);
}

// Each call would wait for the next attempt. Status 504 counts as silence.
TEST_F(LegacyLogLevel, IsNotAskedForAgainWhereTheServerFailsAtItOrIsSilent) {
  for (const int answered : {500, 501, 504}) {
    status = answered;
    Client client(io, server.url(), test::quick());
    EXPECT_FALSE(client.run(client.connection.set_log_level(mcp::LogLevel::debug))) << answered;
    EXPECT_EQ(client.connection.log_level(), mcp::LogLevel::debug) << answered;
  }
}

TEST_F(LegacyLogLevel, IsToldToALaterSessionWhereTheOneBeforeCouldNotBeAsked) {
  number_sessions();
  std::string forgotten;
  mcp.on["tools/call"] = [&](const FakeRequest& request) {
    return request.header("mcp-session-id") == forgotten ? FakeResponse{.status = 404}
                                                         : FakeResponse{.body = answer(request, "done")};
  };
  Client client(io, server.url(), test::quick());
  ASSERT_TRUE(client.run(client.connection.set_log_level(mcp::LogLevel::debug)));
  status = 503;
  forgotten = "session-1";
  EXPECT_EQ(client.text("echo"), "done");
  client.run_until([&] { return server.count("logging/setLevel") == 2 && !client.connection.log_level(); });
  status = 200;
  forgotten = "session-2";
  EXPECT_EQ(client.text("echo"), "done");
  client.run_until([&] { return server.count("logging/setLevel") == 3; });
  EXPECT_EQ(server.last("logging/setLevel").header("mcp-session-id"), "session-3");
  client.run_until([&] { return client.connection.log_level() == mcp::LogLevel::debug; });
}

TEST_F(LegacyLogLevel, CostsNoFurtherSessionsWhereTheServerAnswersWithStatus404) {
  number_sessions();
  status = 404;
  Client client(io, server.url(), test::quick());
  EXPECT_FALSE(client.run(client.connection.set_log_level(mcp::LogLevel::debug)));
  EXPECT_EQ(client.connection.log_level(), mcp::LogLevel::debug);
  EXPECT_EQ(client.text("echo"), "done");
  net::test::settle(io);
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(server.count("logging/setLevel"), 2U) << "status 404 may also mean that the session is unknown";
  EXPECT_EQ(server.count("initialize"), 3U);
}

}  // namespace
}  // namespace proteus::client
