#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"
#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/session_upstream.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::LegacyClient;
using server::rpc;
using ::testing::ElementsAre;

constexpr std::string_view kUpdated = "notifications/resources/updated";

// A server with two resources that notifies subscribed sessions of updates.
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

struct ModernEar {
  ModernEar(TestGateway& gateway, std::string_view filter) : client(gateway.port()) {
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

// Reads a stream to its end and counts the messages that contain `method`.
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
  ModernEar modern(gateway, R"({"resourceSubscriptions":["test://a"]})");
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
  EXPECT_EQ(heard->json().at("method").as_string(), kUpdated);
  EXPECT_EQ(heard->json().at("params").at("uri"), "test://a");

  // No further update follows.
  EXPECT_TRUE(
      legacy.post(rpc("2", "resources/unsubscribe", R"("uri":"test://a")")).json().as_object().contains("result"));
  gateway.gateway.end_streams();
  EXPECT_EQ(count(modern.client, kUpdated), 0);
  EXPECT_EQ(count(stream, kUpdated), 0);
}

// BRG-07, PRO-05: the gateway does not promise updates that the upstream does not send.
TEST_P(Hears, NothingOfWhatTheUpstreamDoesNotTell) {
  ScriptedUpstream mute([](const boost::json::object& message) -> Reaction {
    return small_lists(message).value_or(R"({"resultType":"complete"})");
  });
  ASSERT_TRUE(gateway.set({upstream_at("library", library.port), upstream_at("mute", mute.port())}));
  gateway.discover();
  ModernEar modern(gateway, R"({"resourceSubscriptions":["test://r","test://b"]})");
  EXPECT_THAT(modern.uris(), ElementsAre("test://b"));
  LegacyClient legacy(gateway.port());
  const auto refused = legacy.post(rpc("1", "resources/subscribe", R"("uri":"test://r")")).json();
  EXPECT_TRUE(refused.as_object().contains("error")) << refused;
  const auto agreed = legacy.post(rpc("2", "resources/subscribe", R"("uri":"test://b")")).json();
  EXPECT_TRUE(agreed.as_object().contains("result")) << agreed;
}

// PRX-19: of several upstreams that are listed live, only the one that lists a resource is asked for its updates.
TEST_P(Hears, OfALiveResourceFromWhomItIsListedBy) {
  ScriptedUpstream other(
      [](const boost::json::object& message) -> Reaction {
        if (message.at("method") == "server/discover") {
          return std::string(
              R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}})");
        }
        return small_lists(message).value_or(R"({"resultType":"complete"})");
      },
      ScriptedUpstream::Discover::scripted);
  auto first = upstream_at("other", other.port());
  auto second = upstream_at("library", library.port);
  first.refresh_strategy = second.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  ASSERT_TRUE(gateway.set({first, second}));
  gateway.discover();
  ModernEar modern(gateway, R"({"resourceSubscriptions":["test://b","test://nobody"]})");
  EXPECT_THAT(modern.uris(), ElementsAre("test://b"));
  library.server.resource_updated("test://b");
  const auto told = modern.client.read_event();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->json().at("params").at("uri"), "test://b");
  LegacyClient legacy(gateway.port());
  const auto agreed = legacy.post(rpc("1", "resources/subscribe", R"("uri":"test://a")")).json();
  EXPECT_TRUE(agreed.as_object().contains("result")) << agreed;
  const auto refused = legacy.post(rpc("2", "resources/subscribe", R"("uri":"test://nobody")")).json();
  EXPECT_TRUE(refused.as_object().contains("error")) << refused;
  EXPECT_THAT(other.received("subscriptions/listen"), ::testing::IsEmpty());
}

// BRG-07
TEST_P(Hears, OfAChangeOfListsOnceWhoeverTellsOfIt) {
  ModernEar modern(gateway, R"({"resourcesListChanged":true,"resourceSubscriptions":["test://a"]})");
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

// A legacy client with an open stream.
struct Attached {
  explicit Attached(TestGateway& gateway) : client(gateway.port()), stream(gateway.port()) {
    EXPECT_EQ(stream.request("GET", client.fields() + "Accept: text/event-stream\r\n").status, 200);
  }
  bool subscribe(std::string_view uri) {
    const auto answer = client.post(rpc("1", "resources/subscribe", fmt::format(R"("uri":"{}")", uri))).json();
    return answer.as_object().contains("result");
  }
  std::vector<std::string> resources() {
    std::vector<std::string> uris;
    for (const auto& resource :
         client.post(rpc("2", "resources/list", "")).json().at("result").at("resources").as_array())
      uris.emplace_back(resource.at("uri").as_string());
    return uris;
  }
  // Returns the method of the next message on the stream.
  std::string next() {
    auto event = stream.read_event();
    while (event && event->data.empty())
      event = stream.read_event();
    return event ? std::string(event->json().at("method").as_string()) : "nothing";
  }

  LegacyClient client;
  RawClient stream;
};

class OwnSession : public ::testing::TestWithParam<providers::RefreshStrategy> {
 protected:
  explicit OwnSession(Speaks speaks = Speaks::legacy) : upstream(speaks) {}

  SessionUpstream upstream;
  TestGateway gateway{{settings()}};

  providers::UpstreamSettings settings() {
    auto settings = upstream_at("private", upstream.port());
    settings.prefix = "";
    settings.refresh_strategy = GetParam();
    settings.anonymous_sessions = providers::AnonymousSessions::shared;
    return settings;
  }
  void SetUp() override { gateway.discover(); }
};

// BRG-07
TEST_P(OwnSession, TellsOfUpdatesTheOneWhoseSessionIsTold) {
  Attached one(gateway);
  Attached other(gateway);
  ASSERT_TRUE(one.subscribe("test://shared"));
  ASSERT_TRUE(other.subscribe("test://shared"));
  one.client.call("3", "touch");
  EXPECT_EQ(one.next(), kUpdated);
  gateway.gateway.end_streams();
  EXPECT_EQ(count(one.stream, kUpdated), 0);
  EXPECT_EQ(count(other.stream, kUpdated), 0);
}

// BRG-07
TEST_P(OwnSession, ShowsAndTellsOfWhatOneSessionHasTheOneWhoseItIs) {
  Attached one(gateway);
  Attached other(gateway);
  EXPECT_THAT(one.resources(), ElementsAre("test://shared"));
  EXPECT_THAT(other.resources(), ElementsAre("test://shared"));
  one.client.call("3", "make");
  EXPECT_EQ(one.next(), "notifications/resources/list_changed");
  EXPECT_THAT(one.resources(), ::testing::UnorderedElementsAre("test://own", "test://shared"));
  EXPECT_THAT(other.resources(), ElementsAre("test://shared"));
  const auto read = one.client.post(rpc("4", "resources/read", R"("uri":"test://own")")).json();
  EXPECT_TRUE(read.as_object().contains("result")) << read;
  EXPECT_TRUE(one.subscribe("test://own"));
  gateway.gateway.end_streams();
  EXPECT_EQ(count(one.stream, "list_changed"), 0);
  EXPECT_EQ(count(other.stream, "list_changed"), 0);
}

// BRG-07: after an upstream was removed, nobody sees its entries.
TEST_P(OwnSession, ShowsNothingOfAnUpstreamThatIsGone) {
  Attached one(gateway);
  one.client.call("3", "make");
  EXPECT_EQ(one.next(), "notifications/resources/list_changed");
  EXPECT_THAT(one.resources(), ::testing::Contains("test://own"));
  ASSERT_TRUE(gateway.set({}));
  wait_until([&] { return one.resources().empty(); });
}

// BRG-07: a caller that listens again is notified of changes that it may have missed.
TEST_P(OwnSession, TellsWhoListensAgainThatSomethingMayHaveChanged) {
  LegacyClient client(gateway.port());
  {
    RawClient stream(gateway.port());
    EXPECT_EQ(stream.request("GET", client.fields() + "Accept: text/event-stream\r\n").status, 200);
    client.call("3", "touch");
    wait_until([&] { return upstream.streams() >= 2; });
  }
  wait_until([&] {
    gateway.gateway.drop_unused_since(std::chrono::steady_clock::now() + 1h);
    return upstream.streams() <= 1;
  });
  upstream.make_in_all();
  RawClient stream(gateway.port());
  EXPECT_EQ(stream.request("GET", client.fields() + "Accept: text/event-stream\r\n").status, 200);
  client.call("4", "touch");
  auto event = stream.read_event();
  while (event && event->data.find("notifications/resources/list_changed") == std::string::npos)
    event = stream.read_event();
  EXPECT_TRUE(event);
}

// BRG-07, PRO-05
TEST_P(OwnSession, TellsAModernListenerOfWhatItsOwnCallsBringAbout) {
  ModernEar modern(gateway, R"({"resourcesListChanged":true,"resourceSubscriptions":["test://shared"]})");
  EXPECT_THAT(modern.uris(), ElementsAre("test://shared"));
  gateway.call("touch");
  EXPECT_EQ(modern.client.read_event()->json().at("method").as_string(), kUpdated);
  gateway.call("make");
  EXPECT_EQ(modern.client.read_event()->json().at("method"), "notifications/resources/list_changed");
  EXPECT_EQ(gateway.ask("resources/list").at("result").at("resources").as_array().size(), 2U);
}

// BRG-07: a caller that is gone costs no stream.
TEST_P(OwnSession, HoldsNoStreamForACallerThatHasNone) {
  constexpr std::size_t kOwn = 1;  // the gateway's own stream
  wait_until([&] { return upstream.streams() == kOwn; });
  {
    Attached client(gateway);
    ASSERT_TRUE(client.subscribe("test://shared"));
    const ModernEar modern(gateway, R"({"resourceSubscriptions":["test://shared"]})");
    gateway.call("touch");
    wait_until([&] { return upstream.streams() >= kOwn + 2; });
  }
  wait_until([&] {
    gateway.gateway.drop_unused_since(std::chrono::steady_clock::now() + 1h);
    return upstream.streams() <= kOwn;
  });
}

// The same with an upstream that speaks both eras.
class OwnLegacySession : public OwnSession {
 protected:
  OwnLegacySession() : OwnSession(Speaks::both) {}
  void SetUp() override {
    OwnSession::SetUp();
    wait_until([&] { return gateway.upstream("private")->legacy_side() != nullptr; });
  }
};

// BRG-07, BRG-12: calls that cause updates are made in the session, and so are subscriptions.
TEST_P(OwnLegacySession, TellsOfUpdates) {
  Attached one(gateway);
  ASSERT_TRUE(one.subscribe("test://shared"));
  one.client.call("3", "touch");
  EXPECT_EQ(one.next(), kUpdated);
}

// BRG-07, BRG-12: the modern side does not have the entry.
TEST_P(OwnLegacySession, IsAskedForWhatItAloneHas) {
  Attached one(gateway);
  Attached other(gateway);
  one.client.call("3", "make");
  EXPECT_EQ(one.next(), "notifications/resources/list_changed");
  EXPECT_THAT(one.resources(), ::testing::UnorderedElementsAre("test://own", "test://shared"));
  EXPECT_THAT(other.resources(), ElementsAre("test://shared"));
  const auto read = one.client.post(rpc("4", "resources/read", R"("uri":"test://own")")).json();
  EXPECT_TRUE(read.as_object().contains("result")) << read;
  EXPECT_TRUE(one.subscribe("test://own"));
}

const auto kStrategies =
    ::testing::Values(providers::RefreshStrategy::cached, providers::RefreshStrategy::direct_proxy);
std::string name_of(const ::testing::TestParamInfo<providers::RefreshStrategy>& strategy) {
  return strategy.param == providers::RefreshStrategy::cached ? "Cached" : "Live";
}

INSTANTIATE_TEST_SUITE_P(Strategies, OwnSession, kStrategies, name_of);
INSTANTIATE_TEST_SUITE_P(Strategies, OwnLegacySession, kStrategies, name_of);

}  // namespace
}  // namespace proteus::gateway
