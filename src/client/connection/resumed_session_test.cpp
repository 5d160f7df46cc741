// Tests of continuing a session with a legacy server that another process began.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/legacy_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace test;

class ResumedSessionTest : public test::LegacyHttp {
 protected:
  Options resumed() {
    Options options = test::quick();
    options.resumed = ResumedSession{{"session-9", mcp::Version::v2025_06_18}, R"({"tools":{},"logging":{}})"};
    options.epoch = new_epoch();
    options.on_agreed = [this](const ServerFacts&) { ++agreed; };
    return options;
  }
  int agreed = 0;
};

// REP-10
TEST_F(ResumedSessionTest, IsGoneOnWithWithoutAHandshake) {
  Client client(io, server.url(), resumed());
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(server.count("server/discover"), 0U);
  EXPECT_EQ(server.count("initialize"), 0U);
  const auto& call = server.last("tools/call");
  EXPECT_EQ(call.header("mcp-session-id"), "session-9");
  EXPECT_EQ(call.header("mcp-protocol-version"), "2025-06-18");
  EXPECT_TRUE(client.connection.facts()->offers.logging);
  EXPECT_TRUE(client.connection.facts()->keeps_session);
  EXPECT_EQ(client.connection.session()->id, "session-9");
  EXPECT_EQ(agreed, 1);
}

// REP-12
TEST_F(ResumedSessionTest, UsesNoNumberThatTheOtherProcessMayHaveUsed) {
  Client client(io, server.url(), resumed());
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_GT(std::stoll(server.last("tools/call").id()), 1'000'000);
}

// REP-10
TEST_F(ResumedSessionTest, IsMadeAnewWhereTheServerDoesNotKnowIt) {
  number_sessions();
  mcp.on["tools/call"] = [echo = mcp.on["tools/call"]](const FakeRequest& request) {
    if (request.header("mcp-session-id") == "session-9") return FakeResponse{.status = 404};
    return echo(request);
  };
  Client client(io, server.url(), resumed());
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(server.count("initialize"), 1U);
  EXPECT_EQ(server.last("tools/call").header("mcp-session-id"), "session-1");
  EXPECT_EQ(client.connection.session()->id, "session-1");
  EXPECT_EQ(agreed, 2);
}

}  // namespace
}  // namespace proteus::client
