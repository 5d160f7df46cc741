// Who is notified when lists of upstreams that are listed live have changed.
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"
#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::LegacyClient;
using server::rpc;

constexpr std::string_view kToolsChanged = "notifications/tools/list_changed";

// Returns how often a stream notifies of changed tools, until it ends.
int count(RawClient& stream) {
  int times = 0;
  while (const auto event = stream.read_event()) {
    if (event->data.find(kToolsChanged) != std::string::npos) ++times;
  }
  return times;
}

// Waits for a notification of changed tools. Returns false if the stream ends before that.
bool hears(RawClient& stream) {
  while (const auto event = stream.read_event()) {
    if (event->data.find(kToolsChanged) != std::string::npos) return true;
  }
  return false;
}

// A principal that listens in both eras.
struct BothStreams {
  BothStreams(TestGateway& gateway, std::string_view token)
      : modern(gateway.port()), session(gateway.port(), "2025-11-25", "{}", bearer(token)), legacy(gateway.port()) {
    modern.send_request(
        "POST", server::modern_fields("subscriptions/listen") + bearer(token),
        rpc("9", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + server::modern_meta()));
    modern.read_answer();
    modern.read_event();  // the acknowledgement
    EXPECT_EQ(legacy.request("GET", session.fields() + "Accept: text/event-stream\r\n").status, 200);
    session.post(rpc("1", "tools/list", ""));
  }

  RawClient modern;
  LegacyClient session;
  RawClient legacy;
};

class DirectChanges : public ::testing::TestWithParam<bool> {
 protected:
  DirectChanges() : upstream({"echo"}, GetParam() ? legacy_only() : modern_only()) {
    upstream.server
        .add_tool({.name = "unlock"},
                  [](server::Context&) -> server::Outcome<server::ToolResult> {
                    server::ToolResult result = server::ToolResult::text("done");
                    result.meta["refresh_capabilities"] = true;
                    return result;
                  })
        .value();
    auto settings = upstream_at("up", upstream.port);
    settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
    settings.event_driven_refresh = false;  // concerns cached lists only
    gateway.emplace(std::vector{settings},
                    TestGateway::Setup{.principals = {{.name = "ada", .token = Secret("a")},
                                                      {.name = "bob", .token = Secret("b")},
                                                      {.name = "eve", .token = Secret("e"), .upstreams = {"other"}}}});
    gateway->discover();
    // The gateway itself listens to a modern upstream, in the background, and to a legacy one for each caller.
    const auto served = gateway->upstream("up");
    while (!GetParam() && !boost::asio::co_spawn(served->io(), is_listened_to(*served), boost::asio::use_future).get())
      std::this_thread::yield();
  }
  static Task<bool> is_listened_to(providers::Upstream& served) { co_return served.control().is_listening(); }

  test::Upstream upstream;
  std::optional<TestGateway> gateway;
};
INSTANTIATE_TEST_SUITE_P(Upstream, DirectChanges, ::testing::Bool(),
                         [](const auto& legacy) { return std::string(legacy.param ? "Legacy" : "Modern"); });

// PRX-20, BRG-07
TEST_P(DirectChanges, ReachEveryoneWhoMaySeeTheUpstreamOnce) {
  BothStreams ada(*gateway, "a");
  BothStreams bob(*gateway, "b");
  BothStreams eve(*gateway, "e");
  upstream.add("more");
  for (RawClient* const stream : {&ada.modern, &ada.legacy, &bob.modern, &bob.legacy})
    EXPECT_TRUE(hears(*stream));
  gateway->gateway.end_streams();
  for (RawClient* const stream : {&ada.modern, &ada.legacy, &bob.modern, &bob.legacy, &eve.modern, &eve.legacy})
    EXPECT_EQ(count(*stream), 0);
}

// PRX-20, PRX-06
TEST_P(DirectChanges, ThatAResultTellsReachAllStreamsOfItsCaller) {
  BothStreams ada(*gateway, "a");
  BothStreams bob(*gateway, "b");
  EXPECT_EQ(gateway->call("up_unlock", "{}", bearer("a")).at("result").at("_meta").at("refresh_capabilities"), true);
  EXPECT_TRUE(hears(ada.modern));
  EXPECT_TRUE(hears(ada.legacy));
  EXPECT_EQ(ada.session.call("2", "up_unlock").json().at("result").at("_meta").at("refresh_capabilities"), true);
  EXPECT_TRUE(hears(ada.modern));
  EXPECT_TRUE(hears(ada.legacy));
  gateway->gateway.end_streams();
  for (RawClient* const stream : {&ada.modern, &ada.legacy, &bob.modern, &bob.legacy})
    EXPECT_EQ(count(*stream), 0);
}

}  // namespace
}  // namespace proteus::gateway
