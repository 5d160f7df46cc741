// Tests of HTTP+SSE of 2024-11-05, which is used if the server speaks nothing newer.
#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/fake_server.hpp"
#include "client/testing/test_support.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using test::Client;
using test::FakeRequest;
using test::FakeResponse;
using test::FakeServer;
using test::Feed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace asio = boost::asio;

class OldSse : public ::testing::Test {
 protected:
  FakeResponse handle(const FakeRequest& request) {
    if (request.method == "GET") {
      feed = server.feed();
      feed->push(fmt::format("event: endpoint\ndata: {}\n\n", endpoint));
      return {.type = "text/event-stream", .feed = feed};
    }
    if (request.target != "/messages?session=1") return {.status = refusal, .type = "text/html", .body = "<h1>no</h1>"};
    if (request.rpc() == "initialize") {
      say(request,
          R"({"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"0"}})");
    } else if (request.rpc() == "tools/call" && calls) {
      return calls(request);
    }
    return {.status = 202, .type = "text/plain", .body = "Accepted"};
  }
  void say(const FakeRequest& request, std::string_view result) {
    feed->event(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", request.id(), result), "event: message\n");
  }

  std::string endpoint = "/messages?session=1";
  int refusal = 405;
  std::function<FakeResponse(const FakeRequest&)> calls = [this](const FakeRequest& request) {
    say(request, test::text_result("old"));
    return FakeResponse{.status = 202};
  };
  asio::io_context io;
  std::shared_ptr<Feed> feed;  // destroyed before the context that it waits on
  FakeServer server{io, [this](const FakeRequest& request) { return handle(request); }};
  Options options = [] {
    Options quick;
    quick.timeout = 5s;
    quick.reconnect_delay = 1ms;
    return quick;
  }();
};

TEST_F(OldSse, IsFoundWhereNothingNewerAnswers) {
  for (const int status : {400, 404, 405}) {
    refusal = status;
    Client client(io, server.url(), options);
    EXPECT_EQ(client.text("echo"), "old");
    EXPECT_EQ(client.connection.facts()->version, mcp::Version::v2024_11_05);
    EXPECT_EQ(client.text("echo"), "old");
  }
  EXPECT_EQ(server.verbs("GET"), 3U);
  EXPECT_EQ(server.last("tools/call").header("mcp-protocol-version"), "");
}

TEST_F(OldSse, IsNotLookedForWhereTheRefusalMeansSomethingElse) {
  refusal = 403;
  Client client(io, server.url(), options);
  EXPECT_EQ(client.call("echo").error().kind(), ErrorKind::forbidden);
  EXPECT_EQ(server.verbs("GET"), 0U);
}

// REF-35: the error says that only the newer transport was tried.
TEST_F(OldSse, IsNotLookedForWhereOnlyStreamableHttpIsWanted) {
  options.transport = TransportChoice::streamable_http;
  Client client(io, server.url(), options);
  EXPECT_THAT(client.call("echo").error().message(), HasSubstr("only Streamable HTTP was tried"));
  EXPECT_EQ(server.verbs("GET"), 0U);
}

// REF-32, REF-35
TEST_F(OldSse, IsNotFoundOutAgainWhereItIsKnown) {
  Client first(io, server.url(), options);
  EXPECT_EQ(first.text("echo"), "old");
  const std::size_t before = server.requests.size();
  options.known = first.connection.known();
  options.era = mcp::Era::legacy;
  Client second(io, server.url(), options);
  EXPECT_EQ(second.text("echo"), "old");
  EXPECT_EQ(server.requests[before].method, "GET");
}

TEST_F(OldSse, CanBeAskedFor) {
  options.transport = TransportChoice::old_sse;
  Client client(io, server.url(), options);
  EXPECT_EQ(client.text("echo"), "old");
  EXPECT_EQ(server.requests.front().method, "GET");
}

TEST_F(OldSse, RefusesAnEndpointElsewhere) {  // SEC-06
  endpoint = "http://127.0.0.1:1/messages";
  options.transport = TransportChoice::old_sse;
  Client client(io, server.url(), options);
  EXPECT_THAT(client.call("echo").error().message(), HasSubstr("another origin"));
}

TEST_F(OldSse, ConnectsAgainAfterTheStreamEnded) {
  Client client(io, server.url(), options);
  EXPECT_EQ(client.text("echo"), "old");
  calls = [this](const FakeRequest&) {
    feed->cut();
    return FakeResponse{.status = 202};
  };
  EXPECT_EQ(client.call("echo").error().kind(), ErrorKind::interrupted);
  calls = [this](const FakeRequest& request) {
    say(request, test::text_result("again"));
    return FakeResponse{.status = 202};
  };
  EXPECT_EQ(client.text("echo"), "again");
}

// REF-33: the request has run, however the response to its POST ends.
TEST_F(OldSse, KeepsAnAnswerThatCameBeforeItsPostFailed) {
  const auto response = server.feed();
  calls = [&](const FakeRequest& request) {
    say(request, test::text_result("done before"));
    feed->event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    return FakeResponse{.status = 500, .type = "text/plain", .feed = response};
  };
  // The client reads this notification after the answer.
  options.on_notification = [&](const json::Message&) { response->cut(); };
  Client client(io, server.url(), options);
  EXPECT_EQ(client.text("echo"), "done before");
}

TEST_F(OldSse, ListensAndAnswersQuestions) {
  std::vector<Announcement::Kind> seen;
  options.on_announcement = [&](const Announcement& change) { seen.push_back(change.kind); };
  options.handlers.list_roots = [](Question) -> Task<Result<std::string>> { co_return R"({"roots":[]})"; };
  Client client(io, server.url(), options);
  mcp::SubscriptionFilter wanted;
  wanted.tools = true;
  ASSERT_TRUE(client.run(client.connection.listen(wanted)));
  feed->event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  feed->event("this is no message");
  feed->event(R"({"jsonrpc":"2.0","id":"r","method":"roots/list"})");
  client.run_until([&] { return seen.size() == 1 && server.answers().size() == 1; });
  EXPECT_THAT(server.answers(), ElementsAre(R"({"jsonrpc":"2.0","id":"r","result":{"roots":[]}})"));
}

TEST_F(OldSse, TellsThatAMessageWasRefused) {
  Client client(io, server.url(), options);
  EXPECT_EQ(client.text("echo"), "old");
  calls = [](const FakeRequest&) { return FakeResponse{.status = 429}; };
  EXPECT_EQ(client.call("echo").error().kind(), ErrorKind::unavailable);
}

TEST(OldSseFault, WithoutAnEndpointTheFirstRefusalIsTold) {
  asio::io_context io;
  FakeServer server(io, [](const FakeRequest& request) {
    if (request.method == "GET")
      return FakeResponse{.raw = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: x\n\n"};
    return FakeResponse{.status = 404, .type = "text/html", .body = "<h1>Not Found</h1>"};
  });
  Client client(io, server.url());
  const auto result = client.call("echo");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), HasSubstr("HTTP 404: <h1>Not Found</h1>"));
  EXPECT_THAT(result.error().message(), HasSubstr("and then HTTP+SSE: ")) << "REF-35";
}

}  // namespace
}  // namespace proteus::client
