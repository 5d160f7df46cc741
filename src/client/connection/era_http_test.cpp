// Tests of finding out a server's era over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/fake_server.hpp"
#include "client/testing/test_support.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EraOverHttp : public ::testing::Test {
 protected:
  FakeMcp mcp = FakeMcp::legacy();
  boost::asio::io_context io;
  FakeServer server{io, [this](const FakeRequest& request) { return mcp(request); }};
};

TEST_F(EraOverHttp, TakesAnAnswerToDiscoverThatIsNoneForNoProof) {
  mcp.on["server/discover"] = [](const FakeRequest& request) { return test::result(request, "{}"); };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(client.connection.facts()->era(), mcp::Era::legacy);
}

TEST_F(EraOverHttp, TakesADiscoveredLegacyVersionForWhatItIs) {
  mcp.on["server/discover"] = [](const FakeRequest& request) {
    return test::result(request, R"({"supportedVersions":["2025-11-25"],"capabilities":{}})");
  };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(client.connection.facts()->era(), mcp::Era::legacy);
}

TEST_F(EraOverHttp, ForcedEraNeedsNoProbe) {
  Options options = test::quick();
  options.era = mcp::Era::legacy;
  Client client(io, server.url(), options);
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(server.count("server/discover"), 0U);
}

TEST_F(EraOverHttp, DoesNotGuessWhenItIsNotLetIn) {
  mcp.on["server/discover"] = [](const FakeRequest&) { return FakeResponse{.status = 401}; };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.call("echo").error().kind(), ErrorKind::unauthenticated);
  EXPECT_EQ(server.count("initialize"), 0U);
}

TEST_F(EraOverHttp, DoesNotFallBackFromAModernRefusal) {
  mcp.on["server/discover"] = [](const FakeRequest& request) {
    return test::rpc_error(request, -32021, "Missing capability", 400, R"({"requiredCapabilities":{}})");
  };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.call("echo").error().rpc_code(), -32021);
  EXPECT_EQ(server.count("initialize"), 0U);
}

TEST_F(EraOverHttp, FindsOutAnewWhenAModernServerTurnsOutToBeLegacy) {
  // Some legacy servers answer server/discover, but nothing else without a session.
  mcp.on["server/discover"] = FakeMcp::modern().on["server/discover"];
  const auto fine = mcp.on["tools/call"];
  mcp.on["tools/call"] = [&, fine](const FakeRequest& request) {
    if (!request.header("mcp-session-id").empty()) return fine(request);
    mcp.on.erase("server/discover");
    return FakeResponse{.status = 400, .type = "text/plain", .body = "Bad Request: no session"};
  };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(client.connection.facts()->era(), mcp::Era::legacy);
}

TEST_F(EraOverHttp, FindsOutAnewWhenTheServerWasUpgraded) {
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "done");
  mcp = FakeMcp::modern();
  mcp.on["tools/call"] = [](const FakeRequest& request) {
    if (request.header("mcp-method").empty()) return test::rpc_error(request, -32020, "Mcp-Method is missing", 400);
    return test::result(request, test::text_result("modern now"));
  };
  EXPECT_EQ(client.text("echo"), "modern now");
  EXPECT_EQ(client.connection.facts()->era(), mcp::Era::modern);
}

TEST_F(EraOverHttp, IsAnsweredByAServerThatHasChangedItsEra) {
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "done");
  mcp = FakeMcp::modern();
  mcp.on["ping"] = [](const FakeRequest& request) {
    return test::rpc_error(request, -32020, "Mcp-Method is missing", 400);
  };
  const auto upgraded = client.run(ping(client.connection));
  EXPECT_TRUE(upgraded) << upgraded.error().message();
  EXPECT_EQ(client.connection.facts()->era(), mcp::Era::modern);
  mcp = FakeMcp::legacy();
  const auto downgraded = client.run(ping(client.connection));
  EXPECT_TRUE(downgraded) << downgraded.error().message();
  EXPECT_EQ(client.connection.facts()->era(), mcp::Era::legacy);
}

// REF-26
TEST_F(EraOverHttp, AnswersAllRequestsThatMetTheOtherEraTogether) {
  mcp = FakeMcp::modern();
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "done");
  mcp = FakeMcp::legacy();
  std::vector<std::shared_ptr<Feed>> refusals;
  mcp.on["tools/call"] = [&, fine = mcp.on["tools/call"]](const FakeRequest& request) {
    if (!request.header("mcp-session-id").empty()) return fine(request);
    refusals.push_back(server.feed());
    const FakeResponse refusal{.status = 400, .type = "text/plain", .feed = refusals.back()};
    if (refusals.size() < 2) return refusal;
    for (const auto& each : refusals) {
      each->push("Bad Request: no session");
      each->end();
    }
    return refusal;
  };
  net::test::Started first(io, call_tool(client.connection, "echo", "{}"));
  net::test::Started second(io, call_tool(client.connection, "echo", "{}"));
  EXPECT_EQ(Client::text_of(first.finish()), "done");
  EXPECT_EQ(Client::text_of(second.finish()), "done");
  EXPECT_EQ(server.count("initialize"), 1U);
}

// UPC-15: a request written for one era could reach another caller's session in the other era.
TEST_F(EraOverHttp, DoesNotSendWhatWasWrittenForTheOtherEra) {
  std::vector<mcp::Era> agreed;
  Options options = test::quick();
  options.on_agreed = [&](const ServerFacts& facts) { agreed.push_back(facts.era()); };
  for (const Inputs inputs : {Inputs::hand_back, Inputs::answer}) {
    agreed.clear();
    mcp = FakeMcp::modern();
    Client client(io, server.url(), options);
    RequestOptions call;
    call.inputs = inputs;
    call.era = mcp::Era::modern;
    EXPECT_EQ(client.text("echo", "{}", call), "done");
    mcp = FakeMcp::legacy();
    mcp.on["tools/call"] = [fine = mcp.on["tools/call"]](const FakeRequest& request) {
      if (!request.header("mcp-session-id").empty()) return fine(request);
      return FakeResponse{.status = 400, .type = "text/plain", .body = "Bad Request: no session"};
    };
    const std::size_t before = server.count("tools/call");
    EXPECT_EQ(client.call("echo", "{}", call).error().kind(), ErrorKind::unreachable);
    EXPECT_EQ(server.count("tools/call"), before + 1);  // sent as a modern request, which was refused
    EXPECT_EQ(client.call("echo", "{}", call).error().kind(), ErrorKind::unreachable);
    EXPECT_EQ(server.count("tools/call"), before + 1);
    EXPECT_THAT(agreed, ElementsAre(mcp::Era::modern, mcp::Era::legacy, mcp::Era::legacy));
    mcp = FakeMcp::modern();
    EXPECT_EQ(client.text("echo", "{}", call), "done");
    EXPECT_EQ(agreed.back(), mcp::Era::modern);
  }
}

}  // namespace
}  // namespace proteus::client
