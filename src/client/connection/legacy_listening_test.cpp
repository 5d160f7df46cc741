// Tests of Streamable HTTP in the legacy era: listening on the server's own stream.
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

using LegacyListening = test::LegacyHttp;

TEST_F(LegacyListening, ListensOnTheServersStreamAndSubscribes) {
  std::vector<std::shared_ptr<Feed>> feeds;
  mcp.get = [&](const FakeRequest&) {
    feeds.push_back(server.feed());
    return stream(feeds.back());
  };
  mcp.on["resources/subscribe"] = [](const FakeRequest& request) { return test::result(request, "{}"); };
  std::vector<std::string> seen;
  Options options = test::quick();
  options.on_announcement = [&](const Announcement& change) {
    seen.push_back(fmt::format("{} {}", static_cast<int>(change.kind), change.uri));
  };
  Client client(io, server.url(), options);
  mcp::SubscriptionFilter wanted;
  wanted.tools = true;
  wanted.uris = {"test://x"};
  ASSERT_TRUE(client.run(client.connection.listen(wanted)));
  EXPECT_EQ(server.last("resources/subscribe").params().at("uri"), "test://x");
  feeds[0]->event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})", "id: 7\n");
  feeds[0]->event(R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed"})", "id: 8\n");
  feeds[0]->event(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://x"}})",
                  "id: 9\n");
  client.run_until([&] { return seen.size() == 2; });
  EXPECT_THAT(seen, ElementsAre("0 ", "3 test://x"));
  feeds[0]->cut();
  client.run_until([&] { return feeds.size() == 2; });
  EXPECT_EQ(server.requests.back().header("last-event-id"), "9");
  feeds[1]->event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  client.run_until([&] { return seen.size() == 3; });
  EXPECT_EQ(seen.back(), "0 ");
}

TEST_F(LegacyListening, ListensOnTheStreamThatIsOpenAlready) {
  // Many servers allow only one stream per session.
  const auto feed = server.feed();
  int gets = 0;
  mcp.get = [&](const FakeRequest&) { return ++gets == 1 ? stream(feed) : FakeResponse{.status = 409}; };
  mcp.on["resources/subscribe"] = [](const FakeRequest& request) { return test::result(request, "{}"); };
  std::vector<Announcement::Kind> seen;
  Options options = test::quick();
  options.handlers.elicit_form = accept;
  options.on_announcement = [&](const Announcement& announcement) { seen.push_back(announcement.kind); };
  Client client(io, server.url(), options);
  ASSERT_TRUE(client.run(client.connection.open()));
  client.run_until([&] { return gets == 1; });
  mcp::SubscriptionFilter wanted;
  wanted.tools = true;
  wanted.uris = {"test://x"};
  const auto listening = client.run(client.connection.listen(wanted));
  ASSERT_TRUE(listening) << listening.error().message();
  EXPECT_EQ(server.count("resources/subscribe"), 1U);
  feed->event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  client.run_until([&] { return !seen.empty(); });
  EXPECT_THAT(seen, ElementsAre(Announcement::Kind::tools));
  EXPECT_EQ(gets, 1);
}

TEST_F(LegacyListening, SaysThatAResourceCannotBeSubscribedTo) {
  mcp.get = [&](const FakeRequest&) { return stream(server.feed()); };
  Client client(io, server.url(), test::quick());
  mcp::SubscriptionFilter wanted;
  wanted.uris = {"test://x"};
  EXPECT_EQ(client.run(client.connection.listen(wanted)).error().rpc_code(), -32601);
}

TEST_F(LegacyListening, HearsOfOthersWhereOneResourceIsRefused) {
  const auto feed = server.feed();
  mcp.get = [&](const FakeRequest&) { return stream(feed); };
  mcp.on["resources/subscribe"] = [](const FakeRequest& request) {
    if (request.params().at("uri") == "test://no") return FakeResponse{.status = 500};
    return test::result(request, "{}");
  };
  std::vector<std::string> seen;
  Options options = test::quick();
  options.on_announcement = [&](const Announcement& change) { seen.push_back(change.uri); };
  Client client(io, server.url(), options);
  mcp::SubscriptionFilter wanted;
  wanted.uris = {"test://no", "test://yes"};
  EXPECT_FALSE(client.run(client.connection.listen(wanted)));
  EXPECT_NE(client.connection.refused("test://no"), nullptr);
  EXPECT_EQ(client.connection.refused("test://yes"), nullptr);
  feed->event(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://yes"}})");
  client.run_until([&] { return !seen.empty(); });
  EXPECT_THAT(seen, ElementsAre("test://yes"));
}

TEST_F(LegacyListening, LetsGoOfTheStreamWhenNobodyListensAndOpensItForTheNext) {
  std::vector<std::shared_ptr<Feed>> feeds;
  mcp.get = [&](const FakeRequest&) {
    feeds.push_back(server.feed());
    return stream(feeds.back());
  };
  mcp.on["resources/subscribe"] = [](const FakeRequest& request) { return test::result(request, "{}"); };
  std::vector<Announcement::Kind> seen;
  Options options = test::quick();
  options.on_announcement = [&](const Announcement& change) { seen.push_back(change.kind); };
  Client client(io, server.url(), options);
  mcp::SubscriptionFilter wanted;
  wanted.tools = true;
  wanted.uris = {"test://x"};
  ASSERT_TRUE(client.run(client.connection.listen(wanted)));
  client.connection.hush();
  ASSERT_TRUE(client.run(client.connection.listen(wanted)));
  EXPECT_EQ(feeds.size(), 1U) << "it is still there";
  client.connection.hush();
  client.connection.hush();
  ASSERT_TRUE(client.run(client.connection.listen(wanted)));
  EXPECT_EQ(feeds.size(), 2U);
  EXPECT_EQ(server.count("resources/subscribe"), 1U) << "the session knows of it";
  feeds[1]->event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  client.run_until([&] { return !seen.empty(); });
  EXPECT_THAT(seen, ElementsAre(Announcement::Kind::tools));
}

TEST_F(LegacyListening, HearsWhatComesWithAnswersWhereThereIsNoStream) {
  mcp.get = [](const FakeRequest&) { return FakeResponse{.status = 405}; };
  mcp.on["resources/subscribe"] = [](const FakeRequest& request) { return test::result(request, "{}"); };
  const auto feed = server.feed();
  mcp.on["tools/call"] = [&](const FakeRequest& request) {
    feed->event(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://x"}})");
    feed->event(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}})", request.id()));
    return stream(feed);
  };
  std::vector<std::string> seen;
  Options options = test::quick();
  options.hear_in_answers = true;
  options.on_announcement = [&](const Announcement& change) { seen.push_back(change.uri); };
  Client client(io, server.url(), options);
  mcp::SubscriptionFilter wanted;
  wanted.uris = {"test://x"};
  ASSERT_TRUE(client.run(client.connection.listen(wanted)));
  EXPECT_TRUE(client.call("echo"));
  EXPECT_THAT(seen, ElementsAre("test://x"));
}

TEST_F(LegacyListening, ListensAgainInANewSessionWhenTheOldOneIsForgotten) {
  int gets = 0;
  mcp.get = [&](const FakeRequest&) {
    if (++gets == 2) return FakeResponse{.status = 404};
    const auto feed = server.feed();
    if (gets == 1) feed->end();
    return stream(feed);
  };
  std::vector<Announcement::Kind> seen;
  Options options = test::quick();
  options.on_announcement = [&](const Announcement& change) { seen.push_back(change.kind); };
  Client client(io, server.url(), options);
  mcp::SubscriptionFilter wanted;
  wanted.tools = true;
  ASSERT_TRUE(client.run(client.connection.listen(wanted)));
  client.run_until([&] { return seen.size() == 2; });
  EXPECT_THAT(seen, ElementsAre(Announcement::Kind::interrupted, Announcement::Kind::reopened));
  EXPECT_EQ(server.count("initialize"), 2U);
}

TEST_F(LegacyListening, DoesNotGoOnInANewSessionFromWhereTheOldOneWas) {
  std::vector<std::shared_ptr<Feed>> feeds;
  mcp.get = [&](const FakeRequest&) {
    feeds.push_back(server.feed());
    return stream(feeds.back());
  };
  bool forgotten = false;
  const auto initialize = mcp.on["initialize"];
  mcp.on["initialize"] = [&, initialize](const FakeRequest& request) {
    auto response = initialize(request);
    response.more_headers = forgotten ? "Mcp-Session-Id: second\r\n" : "Mcp-Session-Id: first\r\n";
    return response;
  };
  mcp.on["tools/call"] = [&](const FakeRequest& request) {
    if (request.header("mcp-session-id") == "first") return FakeResponse{.status = 404};
    return FakeResponse{.body = answer(request, "done")};
  };
  Client client(io, server.url(), test::quick());
  ASSERT_TRUE(client.run(client.connection.listen({.tools = true, .uris = {}})));
  feeds[0]->event(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})",
                  "id: 7\n");
  forgotten = true;
  (void)client.call("echo");
  EXPECT_TRUE(client.call("echo"));
  feeds[0]->cut();
  client.run_until([&] { return feeds.size() >= 2; });
  EXPECT_EQ(server.requests.back().header("last-event-id"), "");
}

// A legacy server that forgets its session when the test says so.
class ForgetfulServer : public LegacyListening {
 protected:
  ForgetfulServer() {
    number_sessions();
    mcp.on["resources/subscribe"] = [this](const FakeRequest& request) {
      subscribed.push_back(request.header("mcp-session-id"));
      return test::result(request, "{}");
    };
    mcp.on["tools/call"] = [this](const FakeRequest& request) {
      if (request.header("mcp-session-id") == forgotten) return FakeResponse{.status = 404};
      return FakeResponse{.body = answer(request, "done")};
    };
    options.on_announcement = [this](const Announcement& change) { seen.push_back(change.kind); };
  }

  std::string forgotten;
  std::vector<std::string> subscribed;  // the sessions
  std::vector<Announcement::Kind> seen;
  Options options = test::quick();
};

// REF-20
TEST_F(ForgetfulServer, IsSubscribedToAgainWhereItHasNoStream) {
  options.hear_in_answers = true;
  Client client(io, server.url(), options);
  ASSERT_TRUE(client.run(client.connection.listen({.uris = {"test://x"}})));
  forgotten = "session-1";
  EXPECT_EQ(client.text("echo"), "done");
  client.run_until([&] { return subscribed.size() == 2; });
  EXPECT_THAT(subscribed, ElementsAre("session-1", "session-2"));
  client.run_until([&] { return !seen.empty(); });
  EXPECT_THAT(seen, ElementsAre(Announcement::Kind::reopened));
  EXPECT_TRUE(client.connection.is_listening());
}

// REF-20
TEST_F(ForgetfulServer, IsListenedToInItsNewSessionWhileTheOldStreamIsOpen) {
  std::vector<std::string> streams;  // their sessions
  mcp.get = [&](const FakeRequest& request) {
    streams.push_back(request.header("mcp-session-id"));
    return stream(server.feed());
  };
  Client client(io, server.url(), options);
  ASSERT_TRUE(client.run(client.connection.listen({.uris = {"test://x"}})));
  forgotten = "session-1";
  EXPECT_EQ(client.text("echo"), "done");
  client.run_until([&] { return seen.size() == 2; });
  EXPECT_THAT(seen, ElementsAre(Announcement::Kind::interrupted, Announcement::Kind::reopened));
  EXPECT_THAT(streams, ElementsAre("session-1", "session-2"));
  EXPECT_THAT(subscribed, ElementsAre("session-1", "session-2"));
}

// SEC-04: each reopening makes the owner read all lists again.
TEST_F(LegacyListening, OpensAStreamThatEndsAtOnceLessAndLessOften) {
  int gets = 0;
  mcp.get = [&](const FakeRequest&) {
    ++gets;
    const auto feed = server.feed();
    feed->push("retry: 0\n\n");
    feed->end();
    return stream(feed);
  };
  Options options = test::quick();
  options.reconnect_delay = 100ms;
  Client client(io, server.url(), std::move(options));
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(client.run(client.connection.listen({.tools = true, .uris = {}})));
  client.run_until([&] { return gets == 3; });
  EXPECT_GE(std::chrono::steady_clock::now() - began, 100ms + 200ms);
}

// Without that, each pause would be as long as the longest one of the outage, and longer than the streams.
TEST_F(LegacyListening, OpensAStreamThatLastsSoonAgainAfterAnOutage) {
  constexpr int kFailures = 6;
  constexpr auto kLife = 30ms;  // longer than the first delay, and shorter than the last one of the outage
  int gets = 0;
  std::shared_ptr<Feed> feed;
  mcp.get = [&](const FakeRequest&) {
    ++gets;
    if (gets > 1 && gets <= 1 + kFailures) return FakeResponse{.status = 503};
    feed = server.feed();
    return stream(feed);
  };
  asio::steady_timer life(io);
  int reopened = 0;
  Options options = test::quick();
  options.reconnect_delay = 10ms;
  options.max_reconnect_delay = std::chrono::hours(1);
  options.on_announcement = [&](const Announcement& change) {
    if (change.kind != Announcement::Kind::reopened) return;
    ++reopened;
    life.expires_after(kLife);
    life.async_wait([feed](boost::system::error_code) { feed->end(); });
  };
  Client client(io, server.url(), std::move(options));
  ASSERT_TRUE(client.run(client.connection.listen({.tools = true, .uris = {}})));
  feed->end();
  client.run_until([&] { return reopened == 8; });
}

TEST_F(LegacyListening, SaysThatAStreamIsOpenAgainAlsoWhereOneResourceIsRefused) {
  std::vector<std::shared_ptr<Feed>> feeds;
  int status = 200;
  mcp.get = [&](const FakeRequest&) {
    feeds.push_back(server.feed());
    return status == 200 ? stream(feeds.back()) : FakeResponse{.status = status};
  };
  std::vector<Announcement::Kind> seen;
  Options options = test::quick();
  options.on_announcement = [&](const Announcement& change) { seen.push_back(change.kind); };
  Client client(io, server.url(), options);
  EXPECT_FALSE(client.run(client.connection.listen({.tools = true, .uris = {"test://no"}})));
  EXPECT_TRUE(client.connection.is_listening()) << "to the list of tools";
  feeds.back()->end();
  client.run_until([&] { return seen.size() == 2; });
  EXPECT_THAT(seen, ElementsAre(Announcement::Kind::interrupted, Announcement::Kind::reopened));
  status = 403;
  feeds.back()->end();
  client.run_until([&] { return seen.back() == Announcement::Kind::ended; });
}

}  // namespace
}  // namespace proteus::client
