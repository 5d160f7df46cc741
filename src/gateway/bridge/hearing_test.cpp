#include <gmock/gmock.h>

#include "gateway/bridge/bridge_fixture.hpp"
#include "gateway/scripted_upstream.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::LegacyClient;
using server::rpc;
using ::testing::ElementsAre;

constexpr std::string_view kUpdated = "notifications/resources/updated";

// A server with two resources, which tells every session that asked of their updates.
struct Library {
  explicit Library(server::ServerOptions options) : server({.name = "library", .version = "1"}, options) {
    add("test://a");
    add("test://b");
    port = server.listen().value();
  }
  void add(std::string uri) {
    server
        .add_resource(
            {.uri = uri, .name = uri},
            [](server::Context&) -> server::Outcome<server::ResourceResult> { return server::ResourceResult{}; })
        .value();
  }

  server::Server server;
  std::uint16_t port = 0;
};

struct Listening {
  Listening(TestGateway& gateway, std::string_view filter) : client(gateway.port()) {
    client.send_request(
        "POST", server::modern_fields("subscriptions/listen"),
        rpc("9", "subscriptions/listen", fmt::format(R"("notifications":{},{})", filter, server::modern_meta())));
    client.read_answer();
    acknowledged = client.read_event()->json();
  }
  std::vector<std::string> uris() const {
    std::vector<std::string> found;
    const auto* agreed = acknowledged.at("params").at("notifications").as_object().if_contains("resourceSubscriptions");
    if (agreed == nullptr) return found;
    for (const auto& uri : agreed->as_array())
      found.emplace_back(uri.as_string());
    return found;
  }

  RawClient client;
  boost::json::value acknowledged;
};

// How often a stream tells of something, to its end.
int count(RawClient& stream, std::string_view method) {
  int times = 0;
  while (const auto event = stream.read_event()) {
    if (event->data.find(method) != std::string::npos) ++times;
  }
  return times;
}

class Hears : public ::testing::TestWithParam<bool> {
 protected:
  Library library{GetParam() ? legacy_only() : modern_only()};
  TestGateway gateway{{upstream_at("library", library.port)}};

  void SetUp() override { gateway.discover(); }
};

// BRG-07, PRO-05
TEST_P(Hears, OfAnUpdateOnceInEachEra) {
  Listening modern(gateway, R"({"resourceSubscriptions":["test://a"]})");
  EXPECT_THAT(modern.uris(), ElementsAre("test://a"));
  LegacyClient legacy(gateway.port());
  RawClient stream(gateway.port());
  EXPECT_EQ(stream.request("GET", legacy.fields() + "Accept: text/event-stream\r\n").status, 200);
  EXPECT_TRUE(
      legacy.post(rpc("1", "resources/subscribe", R"("uri":"test://a")")).json().as_object().contains("result"));

  library.server.resource_updated("test://b");
  library.server.resource_updated("test://a");
  const auto told = modern.client.read_event();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->json().at("params").at("uri"), "test://a");
  auto heard = stream.read_event();
  while (heard && heard->data.empty())
    heard = stream.read_event();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->json().at("method"), kUpdated);
  EXPECT_EQ(heard->json().at("params").at("uri"), "test://a");

  // What comes behind it is nothing of the kind.
  EXPECT_TRUE(
      legacy.post(rpc("2", "resources/unsubscribe", R"("uri":"test://a")")).json().as_object().contains("result"));
  gateway.gateway.end_streams();
  EXPECT_EQ(count(modern.client, kUpdated), 0);
  EXPECT_EQ(count(stream, kUpdated), 0);
}

// BRG-07, PRO-05: nobody is promised what is not told of.
TEST_P(Hears, NothingOfWhatTheUpstreamDoesNotTell) {
  ScriptedUpstream mute([](const boost::json::object& message) -> Reaction {
    return small_lists(message).value_or(R"({"resultType":"complete"})");
  });
  ASSERT_TRUE(gateway.set({upstream_at("library", library.port), upstream_at("mute", mute.port())}));
  gateway.discover();
  Listening modern(gateway, R"({"resourceSubscriptions":["test://r","test://b"]})");
  EXPECT_THAT(modern.uris(), ElementsAre("test://b"));
  LegacyClient legacy(gateway.port());
  const auto refused = legacy.post(rpc("1", "resources/subscribe", R"("uri":"test://r")")).json();
  EXPECT_TRUE(refused.as_object().contains("error")) << refused;
  const auto agreed = legacy.post(rpc("2", "resources/subscribe", R"("uri":"test://b")")).json();
  EXPECT_TRUE(agreed.as_object().contains("result")) << agreed;
}

// BRG-07
TEST_P(Hears, OfAChangeOfListsOnceWhoeverTellsOfIt) {
  Listening modern(gateway, R"({"resourcesListChanged":true,"resourceSubscriptions":["test://a"]})");
  EXPECT_EQ(gateway.ask("resources/read", R"("uri":"test://a")", "test://a").as_object().count("error"), 0U);
  library.add("test://c");
  const auto told = modern.client.read_event();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->json().at("method"), "notifications/resources/list_changed");
  wait_until([&] { return gateway.ask("resources/list").at("result").at("resources").as_array().size() == 3; });
  gateway.gateway.end_streams();
  EXPECT_EQ(count(modern.client, "list_changed"), 0);
}

INSTANTIATE_TEST_SUITE_P(Eras, Hears, ::testing::Values(true, false),
                         [](const auto& legacy) { return legacy.param ? "Legacy" : "Modern"; });

}  // namespace
}  // namespace proteus::gateway
