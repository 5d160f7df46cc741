// Tests of requests that are sent at once.
#include "client/connection/pending_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/legacy_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using namespace test;
using ::testing::ElementsAre;
using Posting = std::shared_ptr<PendingRequest>;

constexpr std::string_view kQuestion =
    R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}})";

// Polls until there is an answer; returns nothing if only `finish` can get it.
Task<Result<std::optional<Answer>>> answered(Posting posted) {
  auto polled = posted->poll();
  for (; polled && polled->waits; polled = posted->poll())
    (void)co_await posted->wait();
  if (!polled) co_return std::unexpected(polled.error());
  co_return polled->answer;
}

class Posted : public test::LegacyHttp {
 protected:
  Posted() {
    mcp.on["tools/call"] = [this](const FakeRequest&) { return stream(feed); };
  }

  static Posting post(Client& client, RequestOptions options = {}) {
    return client.connection.post(mcp::Method::tools_call, echo_params(), options, Stay::here);
  }
  // Sends a request to a server whose era is already known.
  static Posting post_to_known(Client& client, RequestOptions options = {}) {
    EXPECT_TRUE(client.run(client.connection.open()));
    return post(client, std::move(options));
  }
  // Returns the text of the answer, the error, or "more" if only `finish` can get the answer.
  static std::string answer_of(Client& client, const Posting& posted) { return told(client.run(answered(posted))); }
  static std::string told(const Result<std::optional<Answer>>& answer) {
    if (answer && !*answer) return "more";
    return Client::text_of(answer ? Result<Answer>(**answer) : std::unexpected(answer.error()));
  }
  static std::string rest_of(Client& client, const Posting& posted) {
    return Client::text_of(client.run(PendingRequest::finish(posted, echo_params())));
  }
  RequestOptions answering(int& made) const {
    RequestOptions options;
    options.make_handlers = [&made] {
      ++made;
      auto handlers = std::make_shared<Handlers>();
      handlers->elicit_form = accept;
      return handlers;
    };
    return options;
  }
  // Makes the server answer the call when its question was answered.
  void thank() {
    mcp.on[""] = [this](const FakeRequest& request) {
      if (!request.id().empty()) feed->event(LegacyHttp::answer(server.last("tools/call"), "thanks"));
      return FakeResponse{.status = 202};
    };
  }

  std::shared_ptr<Feed> feed = server.feed();
};

TEST_F(Posted, IsNothingWhereSomethingHasToBeWaitedFor) {
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(post(client), nullptr);
  EXPECT_TRUE(server.requests.empty());
}

TEST_F(Posted, IsAnsweredInJson) {
  mcp.on["tools/call"] = [](const FakeRequest& request) { return test::result(request, test::text_result("done")); };
  Client client(io, server.url(), test::quick());
  const auto posted = post_to_known(client);
  ASSERT_NE(posted, nullptr);
  EXPECT_EQ(answer_of(client, posted), "done");
  EXPECT_EQ(server.last("tools/call").header("mcp-session-id"), "session-1");
  EXPECT_EQ(server.last("tools/call").header("mcp-protocol-version"), "2025-11-25");
}

TEST_F(Posted, IsAnsweredByAnEventThatComesLater) {
  int made = 0;
  Client client(io, server.url(), test::quick());
  const auto posted = post_to_known(client, answering(made));
  ASSERT_NE(posted, nullptr);
  net::test::Started waiting(io, answered(posted));
  client.run_until([&] { return server.count("tools/call") == 1; });
  feed->push(": still there\n\n");
  net::test::settle(io);
  EXPECT_FALSE(waiting.is_done());
  feed->event(answer(server.last("tools/call"), "done"));
  EXPECT_EQ(told(waiting.finish()), "done");
  EXPECT_EQ(made, 0) << "nobody asked";
}

TEST_F(Posted, IsMoreThanAnAnswerWhereTheServerAsksOnItsStream) {
  thank();
  feed->event(kQuestion);
  int made = 0;
  Client client(io, server.url(), test::quick());
  const auto posted = post_to_known(client, answering(made));
  ASSERT_NE(posted, nullptr);
  EXPECT_EQ(answer_of(client, posted), "more");
  EXPECT_EQ(rest_of(client, posted), "thanks");
  EXPECT_EQ(made, 1);
}

TEST_F(Posted, IsMoreThanAnAnswerWhereTheServerAsksOnItsOwnStream) {
  thank();
  const auto own = server.feed();
  mcp.get = [&](const FakeRequest&) { return stream(own); };
  Options options = test::quick();
  options.handlers.elicit_form = [](Question) -> Task<Result<std::string>> {
    co_return std::unexpected(errors::unsupported("nobody is there"));
  };
  int made = 0;
  Client client(io, server.url(), options);
  EXPECT_TRUE(client.run(client.connection.list(mcp::Method::tools_list))) << "over a connection besides the stream's";
  const auto posted = post(client, answering(made));
  ASSERT_NE(posted, nullptr);
  net::test::Started waiting(io, answered(posted));
  client.run_until([&] { return server.count("tools/call") == 1; });
  own->event(kQuestion);
  EXPECT_EQ(told(waiting.finish()), "more");
  EXPECT_EQ(rest_of(client, posted), "thanks");
  EXPECT_EQ(made, 1);
}

TEST_F(Posted, LosesNoAnswerThatComesWithAQuestion) {
  mcp.on["tools/call"] = [&](const FakeRequest& request) {
    feed->push(fmt::format("data: {}\n\ndata: {}\n\n", kQuestion, answer(request, "done")));
    return stream(feed);
  };
  int made = 0;
  Client client(io, server.url(), test::quick());
  const auto posted = post_to_known(client, answering(made));
  ASSERT_NE(posted, nullptr);
  std::string text = answer_of(client, posted);
  if (text == "more") text = rest_of(client, posted);
  EXPECT_EQ(text, "done");
}

TEST_F(Posted, HasMoreTimeWhereProgressIsTold) {  // PRO-08
  Client client(io, server.url(), test::quick());
  std::vector<double> progress;
  RequestOptions options;
  options.on_progress = [&](const mcp::Progress& told) { progress.push_back(told.progress); };
  const auto posted = post_to_known(client, options);
  ASSERT_NE(posted, nullptr);
  net::test::Started waiting(io, answered(posted));
  client.run_until([&] { return server.count("tools/call") == 1; });
  const std::string id = server.last("tools/call").id();
  feed->event(fmt::format(
      R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":5}}}})", id));
  client.run_until([&] { return !progress.empty(); });
  feed->event(answer(server.last("tools/call"), "done"));
  EXPECT_EQ(told(waiting.finish()), "done");
  EXPECT_THAT(progress, ::testing::ElementsAre(5.0));
}

TEST_F(Posted, IsResumedWhereItsStreamBreaksOff) {
  feed->push("id: event-1\nretry: 1\ndata: \n\n");
  feed->cut();
  mcp.get = [&](const FakeRequest& request) {
    EXPECT_EQ(request.header("last-event-id"), "event-1");
    const auto again = server.feed();
    again->event(answer(server.last("tools/call"), "resumed"));
    return stream(again);
  };
  Client client(io, server.url(), test::quick());
  const auto posted = post_to_known(client);
  ASSERT_NE(posted, nullptr);
  EXPECT_EQ(answer_of(client, posted), "more");
  EXPECT_EQ(rest_of(client, posted), "resumed");
}

TEST_F(Posted, IsSentOnceMoreInANewSession) {
  number_sessions();
  mcp.on["tools/call"] = [&](const FakeRequest& request) {
    if (request.header("mcp-session-id") != "session-2") return FakeResponse{.status = 404};
    return test::result(request, test::text_result("done"));
  };
  Client client(io, server.url(), test::quick());
  const auto posted = post_to_known(client);
  ASSERT_NE(posted, nullptr);
  EXPECT_EQ(answer_of(client, posted), "more");
  EXPECT_EQ(rest_of(client, posted), "done");
  EXPECT_EQ(server.count("tools/call"), 2U);
}

TEST_F(Posted, IsOneRequestAlsoWhereItIsSentOnceMore) {
  thank();
  std::shared_ptr<Feed> own;
  mcp.get = [&](const FakeRequest&) { return stream(own = server.feed()); };
  number_sessions();
  mcp.on["tools/call"] = [&](const FakeRequest& request) {
    if (request.header("mcp-session-id") != "session-2") return FakeResponse{.status = 404};
    own->event(kQuestion);
    return stream(feed);
  };
  Options options = test::quick();
  options.handlers.elicit_form = [](Question) -> Task<Result<std::string>> {
    co_return std::unexpected(errors::unsupported("nobody is there"));
  };
  int made = 0;
  Client client(io, server.url(), options);
  EXPECT_TRUE(client.run(client.connection.list(mcp::Method::tools_list)));
  const auto posted = post(client, answering(made));
  ASSERT_NE(posted, nullptr);
  EXPECT_EQ(answer_of(client, posted), "more");
  EXPECT_EQ(rest_of(client, posted), "thanks");
  EXPECT_EQ(made, 1) << "it is known whom the server means";
}

TEST_F(Posted, TellsTheServerWhenItsTimeIsOver) {  // PRO-09
  mcp.on["tools/call"] = [](const FakeRequest&) { return FakeResponse{.hold = true}; };
  Client client(io, server.url(), test::quick());
  RequestOptions options;
  options.timeout = test::kBrief;
  const auto posted = post_to_known(client, options);
  ASSERT_NE(posted, nullptr);
  const auto answer = client.run(answered(posted));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::timeout);
  EXPECT_EQ(answer.error().message(), "tools/call timed out");
  client.run_until([&] { return server.count("notifications/cancelled") == 1; });
}

TEST_F(Posted, TellsTheServerWhenItIsCancelled) {  // PRO-09
  mcp.on["tools/call"] = [](const FakeRequest&) { return FakeResponse{.hold = true}; };
  Client client(io, server.url(), test::quick());
  const auto posted = post_to_known(client);
  ASSERT_NE(posted, nullptr);
  net::test::Started waiting(io, answered(posted));
  client.run_until([&] { return server.count("tools/call") == 1; });
  posted->cancel();
  const auto answer = waiting.finish();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::cancelled);
  client.run_until([&] { return server.count("notifications/cancelled") == 1; });
}

TEST_F(Posted, EndsWithItsConnection) {
  mcp.on["tools/call"] = [](const FakeRequest&) { return FakeResponse{.hold = true}; };
  Client client(io, server.url(), test::quick());
  EXPECT_TRUE(client.run(client.connection.open()));
  net::test::Started call(io, call_tool(client.connection, "echo", "{}"));
  client.run_until([&] { return server.count("tools/call") == 1; });
  client.run(client.connection.close());
  ASSERT_TRUE(call.is_done());
  EXPECT_EQ(call.finish().error().kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace proteus::client
