// Tests of Streamable HTTP in the modern era: listening for changes.
#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/modern_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace test;
using ::testing::ElementsAre;

using ModernListening = test::ModernHttp;

TEST_F(ModernListening, ReopensTheSubscriptionAndSaysSo) {
  std::vector<std::shared_ptr<test::Feed>> feeds;
  mcp.on["subscriptions/listen"] = [&](const FakeRequest& request) {
    feeds.push_back(server.feed());
    const std::string tag = R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" + request.id() + "}";
    feeds.back()->event(
        R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},)" +
        tag + "}}");
    feeds.back()->event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{)" + tag + "}}");
    feeds.back()->event(
        R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":12345}}})");
    feeds.back()->event(R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{)" + tag + "}}");
    return FakeResponse{.type = "text/event-stream", .feed = feeds.back()};
  };
  std::vector<Announcement::Kind> seen;
  Options options = test::quick();
  options.on_announcement = [&](const Announcement& change) { seen.push_back(change.kind); };
  Client client(io, server.url(), std::move(options));
  mcp::SubscriptionFilter wanted;
  wanted.tools = true;
  ASSERT_TRUE(client.run(client.connection.listen(wanted)));
  client.run_until([&] { return seen.size() == 1; });
  feeds.back()->cut();
  client.run_until([&] { return seen.size() >= 4; });
  EXPECT_THAT(seen, ElementsAre(Announcement::Kind::tools, Announcement::Kind::interrupted,
                                Announcement::Kind::reopened, Announcement::Kind::tools));
  EXPECT_EQ(boost::json::serialize(server.last("subscriptions/listen").params().at("notifications")),
            R"({"toolsListChanged":true})");
}

// A server that opens a stream for each subscription and agrees when the test says so.
class Subscriptions : public ModernListening {
 protected:
  Subscriptions() {
    mcp.on["subscriptions/listen"] = [this](const FakeRequest& request) {
      if (refuses) return FakeResponse{.status = 503};
      tags.push_back(R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" + request.id() + "}");
      feeds.push_back(server.feed());
      return FakeResponse{.type = "text/event-stream", .feed = feeds.back()};
    };
    options.on_announcement = [this](const Announcement& change) { seen.push_back(change.kind); };
  }

  void notify(std::size_t stream, const std::string& method, const std::string& members = "") {
    feeds.at(stream)->event(R"({"jsonrpc":"2.0","method":"notifications/)" + method + R"(","params":{)" + members +
                            tags.at(stream) + "}}");
  }
  void agree(std::size_t stream) {
    notify(stream, "subscriptions/acknowledged", R"("notifications":{"toolsListChanged":true},)");
  }
  // Listens, and lets the server agree.
  void listen_first(Client& client) {
    std::optional<bool> agreed;
    listen(client, agreed);
    client.run_until([&] { return feeds.size() == 1; });
    agree(0);
    client.run_until([&] { return agreed.has_value(); });
  }
  // Listens in the background; sets `agreed` to the outcome.
  void listen(Client& client, std::optional<bool>& agreed) {
    boost::asio::co_spawn(
        io, client.connection.listen({.tools = true, .uris = {}}),
        [&agreed](const std::exception_ptr&, const Result<>& result) { agreed = result.has_value(); });
  }

  std::vector<std::shared_ptr<test::Feed>> feeds;
  std::vector<std::string> tags;
  std::vector<Announcement::Kind> seen;
  bool refuses = false;
  Options options = test::quick();
};

// REF-16
TEST_F(Subscriptions, AreHeardUntilOthersHaveTakenTheirPlace) {
  std::optional<bool> second;
  Client client(io, server.url(), options);
  listen_first(client);
  listen(client, second);
  client.run_until([&] { return feeds.size() == 2; });
  notify(0, "tools/list_changed");
  client.run_until([&] { return seen.size() == 1; });
  EXPECT_FALSE(second);
  agree(1);
  client.run_until([&] { return second.has_value(); });
  EXPECT_TRUE(*second);
  notify(0, "tools/list_changed");  // nobody listens there any more
  notify(1, "tools/list_changed");
  client.run_until([&] { return seen.size() == 2; });
  EXPECT_THAT(seen, ElementsAre(Announcement::Kind::tools, Announcement::Kind::tools));
}

// REF-16
TEST_F(Subscriptions, StayWhereOthersAreRefused) {
  std::optional<bool> second;
  Client client(io, server.url(), options);
  listen_first(client);
  refuses = true;
  listen(client, second);
  client.run_until([&] { return second.has_value(); });
  EXPECT_FALSE(*second);
  notify(0, "tools/list_changed");
  client.run_until([&] { return seen.size() == 1; });
}

TEST_F(ModernListening, SaysWhyItCannotListen) {
  Client client(io, server.url(), test::quick());
  const auto listening = client.run(client.connection.listen({}));
  ASSERT_FALSE(listening);
  EXPECT_EQ(listening.error().rpc_code(), -32601);
}

}  // namespace
}  // namespace proteus::client
