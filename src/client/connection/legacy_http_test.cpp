// Tests of Streamable HTTP in the legacy era: sessions, the server's own stream, resumption.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/legacy_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace asio = boost::asio;

using LegacyHttp = test::LegacyHttp;

TEST_F(LegacyHttp, InitializesOnceAndKeepsTheSession) {  // PRO-02
  {
    Client client(io, server.url(), test::quick());
    EXPECT_EQ(client.text("echo"), "done");
    EXPECT_EQ(client.text("echo"), "done");
    EXPECT_EQ(client.connection.facts()->info, R"({"name":"fake","version":"1"})");
  }
  EXPECT_EQ(server.count("server/discover"), 1U);
  EXPECT_EQ(server.count("initialize"), 1U);
  const auto& initialize = server.last("initialize");
  EXPECT_EQ(initialize.header("mcp-session-id"), "");
  EXPECT_EQ(initialize.header("mcp-protocol-version"), "");
  EXPECT_EQ(initialize.params().at("protocolVersion"), "2025-11-25");
  EXPECT_EQ(initialize.params().at("clientInfo").at("name"), "proteus");
  EXPECT_EQ(server.last("notifications/initialized").header("mcp-session-id"), "session-1");
  const auto& call = server.last("tools/call");
  EXPECT_EQ(call.header("mcp-session-id"), "session-1");
  EXPECT_EQ(call.header("mcp-protocol-version"), "2025-11-25");
  EXPECT_FALSE(call.params().as_object().contains("_meta"));
  EXPECT_EQ(server.requests.back().method, "DELETE");
  EXPECT_EQ(server.requests.back().header("mcp-session-id"), "session-1");
}

// REP-12
TEST_F(LegacyHttp, NumbersRequestsOfASessionByTheOwnersEpoch) {
  Options options = test::quick();
  options.epoch = 7;
  Client client(io, server.url(), std::move(options));
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_GT(std::stoull(server.last("tools/call").id()), first_request_of(7));
  EXPECT_LT(std::stoull(server.last("tools/call").id()), first_request_of(8));
}

TEST_F(LegacyHttp, RequestsAtTheSameTimeShareOneHandshake) {
  Client client(io, server.url(), test::quick());
  int done = 0;
  for (int i = 0; i < 3; ++i)
    asio::co_spawn(io, call_tool(client.connection, "echo", "{}"),
                   [&](const std::exception_ptr&, const Result<Answer>& result) {
                     EXPECT_TRUE(result);
                     ++done;
                   });
  client.run_until([&] { return done == 3; });
  EXPECT_EQ(server.count("initialize"), 1U);
}

TEST_F(LegacyHttp, CancelsByANotification) {  // PRO-09
  mcp.on["tools/call"] = [](const FakeRequest&) { return FakeResponse{.hold = true}; };
  Client client(io, server.url(), test::quick());
  RequestOptions call;
  call.timeout = test::kBrief;
  EXPECT_EQ(client.call("echo", "{}", call).error().kind(), ErrorKind::timeout);
  client.run_until([&] { return server.count("notifications/cancelled") == 1; });
  EXPECT_EQ(boost::json::serialize(server.last("notifications/cancelled").params().at("requestId")),
            server.last("tools/call").id());
}

TEST_F(LegacyHttp, ClosesWhileACancelledCallIsLeaving) {
  // Without a session, closing sends nothing and waits only for the call.
  const auto initialize = mcp.on["initialize"];
  mcp.on["initialize"] = [initialize](const FakeRequest& request) {
    auto response = initialize(request);
    response.more_headers.clear();
    return response;
  };
  mcp.on["tools/call"] = [](const FakeRequest&) { return FakeResponse{.hold = true}; };
  const SystemClock clock;
  net::HttpClient http(io, clock);
  std::optional<Connection> connection(std::in_place, io.get_executor(), transports_to(server.url(), io, http),
                                       test::quick());
  net::test::Started call(io, call_tool(*connection, "echo", "{}"));
  net::test::run_until(io, [&] { return server.count("tools/call") == 1; });
  call.cancel();
  net::test::run(io, connection->close());
  connection.reset();
  net::test::run_until(io, [&] { return call.is_done(); });
  EXPECT_TRUE(call.failure);
  EXPECT_EQ(server.count("notifications/cancelled"), 0U);
  http.close();
  net::test::settle(io);
}

TEST_F(LegacyHttp, BeginsAnotherSessionWhenTheServerForgotIt) {  // REF-20
  number_sessions();
  mcp.on["tools/call"] = [&](const FakeRequest& request) {
    if (request.header("mcp-session-id") != "session-2") return FakeResponse{.status = 404};
    return test::result(request, test::text_result("done"));
  };
  Options options = test::quick();
  int lost = 0;
  options.on_session_lost = [&] { ++lost; };
  Client client(io, server.url(), options);
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(lost, 1);
  EXPECT_EQ(server.count("tools/call"), 2U);
  mcp.on["tools/call"] = [](const FakeRequest&) { return FakeResponse{.status = 404}; };
  EXPECT_EQ(client.call("echo").error().kind(), ErrorKind::not_found);
  EXPECT_EQ(server.count("tools/call"), 4U);
}

TEST_F(LegacyHttp, BeginsAnotherSessionWhenABadRequestSaysThatItIsUnknown) {  // REF-20
  number_sessions();
  mcp.on["tools/call"] = [&](const FakeRequest& request) {
    if (request.header("mcp-session-id") == "session-2") return test::result(request, test::text_result("done"));
    return FakeResponse{
        .status = 400,
        .body =
            R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null})"};
  };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(server.count("tools/call"), 2U);

  mcp.on["tools/call"] = [](const FakeRequest& request) {
    return test::rpc_error(request, -32602, "No such colour", 400);
  };
  EXPECT_EQ(client.call("echo").error().message(), "No such colour");
  EXPECT_EQ(server.count("tools/call"), 3U);
}

TEST_F(LegacyHttp, RefusesAnUnusableSessionId) {  // SEC-06
  const auto initialize = mcp.on["initialize"];
  mcp.on["initialize"] = [&, initialize](const FakeRequest& request) {
    auto response = initialize(request);
    response.more_headers = "Mcp-Session-Id: two words\r\n";
    return response;
  };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.call("echo").error().kind(), ErrorKind::protocol);
}

TEST_F(LegacyHttp, ResumesAStreamThatEndsEarlyAndHonoursRetry) {
  std::chrono::steady_clock::time_point ended;
  std::chrono::steady_clock::time_point resumed;
  mcp.on["tools/call"] = [&](const FakeRequest&) {
    const auto feed = server.feed();
    feed->push("id: event-1\nretry: 60\ndata: \n\n");
    feed->end();
    ended = std::chrono::steady_clock::now();
    return stream(feed);
  };
  mcp.get = [&](const FakeRequest&) {
    resumed = std::chrono::steady_clock::now();
    const auto feed = server.feed();
    feed->event(answer(server.last("tools/call"), "resumed"), "id: event-2\n");
    return stream(feed);
  };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "resumed");
  EXPECT_GE(resumed - ended, 60ms);
  const auto get = std::ranges::find(server.requests, "GET", &FakeRequest::method);
  ASSERT_NE(get, server.requests.end());
  EXPECT_EQ(get->header("last-event-id"), "event-1");
  EXPECT_EQ(get->header("accept"), "text/event-stream");
  EXPECT_EQ(get->header("mcp-session-id"), "session-1");
}

TEST_F(LegacyHttp, GoesOnResumingUntilTheAnswerComes) {
  int polls = 0;
  mcp.on["tools/call"] = [&](const FakeRequest&) {
    const auto feed = server.feed();
    feed->push("id: 0\nretry: 1\ndata: \n\n");
    feed->cut();
    return stream(feed);
  };
  mcp.get = [&](const FakeRequest& request) {
    if (++polls == 2) return FakeResponse{.raw = "HTTP/1.1 200 OK\r\nConte"};
    EXPECT_EQ(request.header("last-event-id"), std::to_string(polls > 2 ? polls - 2 : polls - 1));
    const auto feed = server.feed();
    if (polls < 5) feed->push(fmt::format("id: {}\ndata: \n\n", polls > 2 ? polls - 1 : polls));
    if (polls == 5) feed->event(answer(server.last("tools/call"), "at last"));
    feed->end();
    return stream(feed);
  };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "at last");
  EXPECT_EQ(polls, 5);
}

TEST_F(LegacyHttp, ResumesFromWhereItWasAfterAStreamWithoutEvents) {
  int polls = 0;
  mcp.on["tools/call"] = [&](const FakeRequest&) {
    const auto feed = server.feed();
    feed->push("id: event-1\nretry: 1\ndata: \n\n");
    feed->end();
    return stream(feed);
  };
  mcp.get = [&](const FakeRequest& request) {
    EXPECT_EQ(request.header("last-event-id"), "event-1");
    const auto feed = server.feed();
    if (++polls == 3) feed->event(answer(server.last("tools/call"), "at last"));
    feed->end();
    return stream(feed);
  };
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("echo"), "at last");
  EXPECT_EQ(polls, 3);
}

TEST_F(LegacyHttp, SaysThatAStreamCouldNotBeResumed) {
  mcp.on["tools/call"] = [&](const FakeRequest&) {
    const auto feed = server.feed();
    feed->push("id: 1\nretry: 1\ndata: \n\n");
    feed->end();
    return stream(feed);
  };
  Client client(io, server.url(), test::quick());
  const auto result = client.call("echo");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::interrupted);
  EXPECT_THAT(result.error().message(), HasSubstr("405"));
  EXPECT_EQ(server.count("tools/call"), 1U);
}

TEST_F(LegacyHttp, AnswersQuestionsOnTheStreamOfARequest) {
  std::shared_ptr<Feed> feed = server.feed();
  mcp.on["tools/call"] = [&](const FakeRequest&) {
    feed->event(
        R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","default":3}}}}})");
    return stream(feed);
  };
  mcp.on[""] = [&](const FakeRequest& request) {
    if (!request.id().empty()) feed->event(answer(server.last("tools/call"), "thanks"));
    return FakeResponse{.status = 202};
  };
  Options options = test::quick();
  options.handlers.elicit_form = accept;
  Client client(io, server.url(), options);
  EXPECT_EQ(client.text("echo"), "thanks");
  EXPECT_EQ(
      boost::json::serialize(server.last("").json),
      fmt::format(R"({{"jsonrpc":"2.0","id":"q","result":{{"action":"accept","content":{{"during":{},"n":3}}}}}})",
                  server.last("tools/call").id()));
  EXPECT_EQ(server.last("").header("mcp-session-id"), "session-1");
  EXPECT_EQ(boost::json::serialize(server.last("initialize").params().at("capabilities")),
            R"({"elicitation":{"form":{}}})");
}

TEST_F(LegacyHttp, TellsTheServerHowFarAnAnswerIs) {
  std::shared_ptr<Feed> feed = server.feed();
  mcp.on["tools/call"] = [&](const FakeRequest&) {
    feed->event(
        R"({"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"_meta":{"progressToken":"t"}}})");
    return stream(feed);
  };
  std::function<void(std::string)> late;
  Bell heard(io.get_executor());
  mcp.on["notifications/progress"] = [&](const FakeRequest&) {
    heard.ring();
    return FakeResponse{.status = 202};
  };
  mcp.on[""] = [&](const FakeRequest& request) {
    if (!request.id().empty()) feed->event(answer(server.last("tools/call"), "thanks"));
    return FakeResponse{.status = 202};
  };
  Options options = test::quick();
  options.handlers.sample = [&](Question question) -> Task<Result<std::string>> {
    late = question.on_progress;
    question.on_progress(R"({"progressToken":1,"progress":0.25,"total":1})");
    co_await heard.wait();
    co_return "{}";
  };
  Client client(io, server.url(), options);
  EXPECT_EQ(client.text("echo"), "thanks");
  EXPECT_EQ(boost::json::serialize(server.last("notifications/progress").params()),
            R"({"progressToken":"t","progress":2.5E-1,"total":1})");
  late(R"({"progressToken":1,"progress":1})");
  mcp.on["tools/call"] = [](const FakeRequest& request) { return test::result(request, test::text_result("done")); };
  EXPECT_TRUE(client.call("echo"));
  EXPECT_EQ(server.count("notifications/progress"), 1U) << "nobody hears of an answer that was given";
}

TEST_F(LegacyHttp, KeepsAStreamForQuestionsOutsideOfRequests) {
  const auto feed = server.feed();
  mcp.get = [&](const FakeRequest&) { return stream(feed); };
  Options options = test::quick();
  options.handlers.elicit_form = accept;
  Client client(io, server.url(), options);
  ASSERT_TRUE(client.run(client.connection.open()));
  client.run_until([&] { return server.verbs("GET") == 1; });
  feed->event(R"({"jsonrpc":"2.0","id":5,"method":"ping"})");
  feed->event(R"({"jsonrpc":"2.0","id":6,"method":"sampling/createMessage","params":{}})");
  client.run_until([&] { return server.answers().size() == 2; });
  EXPECT_THAT(server.answers(),
              ::testing::UnorderedElementsAre(HasSubstr(R"("id":5,"result":{})"), HasSubstr("-32601")));
}

TEST_F(LegacyHttp, CallsWhenTheServerCanAsk) {  // BRG-01
  // The server may ask on its own stream during a call; a question is lost if there is no stream yet.
  std::vector<std::string> order;
  const auto feed = server.feed();
  mcp.get = [&](const FakeRequest&) {
    order.emplace_back("GET");
    return stream(feed);
  };
  const auto call = mcp.on["tools/call"];
  mcp.on["tools/call"] = [&, call](const FakeRequest& request) {
    order.emplace_back("call");
    return call(request);
  };
  Options options = test::quick();
  options.handlers.elicit_form = accept;
  options.stream_wait = 1h;
  Client client(io, server.url(), options);
  ASSERT_TRUE(client.call("echo"));
  EXPECT_THAT(order, ElementsAre("GET", "call"));

  // Also if listening begins at the same time.
  order.clear();
  Client other(io, server.url(), options);
  bool listens = false;
  asio::co_spawn(io, other.connection.listen({.tools = true, .uris = {}}),
                 [&](const std::exception_ptr&, const Result<>& result) { listens = result.has_value(); });
  ASSERT_TRUE(other.call("echo"));
  EXPECT_THAT(order, ElementsAre("GET", "call"));
  other.run_until([&] { return listens; });
}

TEST_F(LegacyHttp, DoesNotWaitLongForAServersStream) {
  mcp.get = [](const FakeRequest&) { return FakeResponse{.hold = true}; };
  Options options = test::quick();
  options.handlers.elicit_form = accept;
  options.stream_wait = 20ms;
  Client client(io, server.url(), options);
  ASSERT_TRUE(client.call("echo"));
  EXPECT_EQ(server.verbs("GET"), 1U);
}

TEST_F(LegacyHttp, DoesNotAnswerAQuestionTheServerTookBack) {
  std::shared_ptr<Feed> feed = server.feed();
  mcp.on["tools/call"] = [&](const FakeRequest&) {
    feed->event(R"({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}})");
    feed->event(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    feed->event(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
    return stream(feed);
  };
  mcp.on[""] = [&](const FakeRequest&) {
    feed->event(answer(server.last("tools/call"), "fine"));
    return FakeResponse{.status = 202};
  };
  Options options = test::quick();
  bool stopped = false;
  options.handlers.elicit_form = [&stopped](Question) {
    struct Guard {
      bool& flag;
      ~Guard() { flag = true; }
    };
    return [](std::unique_ptr<Guard>) -> Task<Result<std::string>> {
      co_await sleep_for(1h);
      co_return "{}";
    }(std::make_unique<Guard>(stopped));
  };
  Client client(io, server.url(), options);
  EXPECT_EQ(client.text("echo"), "fine");
  client.run_until([&] { return stopped; });
  EXPECT_THAT(server.answers(), ElementsAre(HasSubstr(R"("id":2)")));
}

TEST_F(LegacyHttp, SetsTheLogLevelAgainInANewSession) {
  mcp.on["logging/setLevel"] = [](const FakeRequest& request) { return test::result(request, "{}"); };
  Client client(io, server.url(), test::quick());
  ASSERT_TRUE(client.run(client.connection.set_log_level(mcp::LogLevel::error)));
  EXPECT_EQ(server.last("logging/setLevel").params().at("level"), "error");
  const auto fine = mcp.on["tools/call"];
  int calls = 0;
  mcp.on["tools/call"] = [&, fine](const FakeRequest& request) {
    return ++calls == 1 ? FakeResponse{.status = 404} : fine(request);
  };
  EXPECT_EQ(client.text("echo"), "done");
  client.run_until([&] { return server.count("logging/setLevel") == 2; });
}

}  // namespace
}  // namespace proteus::client
