#include "gateway/connections/shared_requests.hpp"

#include <gmock/gmock.h>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using server::modern_fields;
using server::modern_meta;
using server::RawClient;
using server::rpc;
using test::one_tool;
using test::Reaction;
using test::ScriptedUpstream;
using test::TestGateway;
using test::upstream_at;
using test::wait_until;
using ::testing::HasSubstr;

class SharedLists : public ::testing::Test {
 protected:
  static providers::UpstreamSettings live(std::uint16_t port) {
    auto settings = upstream_at("up", port);
    settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
    return settings;
  }
  // Returns a different list each time.
  Reaction react() {
    Reaction reaction(one_tool("tool" + std::to_string(++lists)));
    reaction.gate = &open;
    return reaction;
  }
  std::unique_ptr<RawClient> ask(std::string_view token, std::string_view meta = {}) {
    auto client = std::make_unique<RawClient>(gateway.port());
    client->send_request("POST", modern_fields("tools/list") + fmt::format("Authorization: Bearer {}\r\n", token),
                         rpc("1", "tools/list", modern_meta("{}", meta)));
    return client;
  }
  // Returns when the gateway has received everything that was sent so far.
  void settle() {
    for (int i = 0; i < 3; ++i) {
      RawClient probe(gateway.port());
      probe.request("POST", modern_fields("ping") + "Authorization: Bearer a\r\n", rpc("1", "nothing", modern_meta()));
    }
  }

  std::atomic<int> lists = 0;
  std::atomic<bool> open = true;
  ScriptedUpstream upstream{[this](const boost::json::object&) { return react(); }};
  TestGateway gateway{
      {live(upstream.port())},
      {.principals = {{.name = "ada", .token = Secret("a")}, {.name = "bob", .token = Secret("b")}}, .workers = 1}};
};

// PRX-03, PRX-05
TEST_F(SharedLists, TheSameListForTheSamePrincipalIsAskedForOnceByThoseWhoWait) {
  gateway.discover();
  open = false;
  const auto first = ask("a");
  wait_until([&] { return upstream.received("tools/list").size() == 1; });
  std::vector<std::unique_ptr<RawClient>> others;
  for (int i = 0; i < 5; ++i)
    others.push_back(ask("a"));
  settle();
  EXPECT_EQ(upstream.received("tools/list").size(), 1U);
  open = true;
  EXPECT_THAT(first->read_answer().body, HasSubstr("up_tool1"));
  for (const auto& other : others)
    EXPECT_THAT(other->read_answer().body, HasSubstr("up_tool2")) << "asked for after they came";
  EXPECT_EQ(upstream.received("tools/list").size(), 2U);
}

// PRX-05
TEST_F(SharedLists, NothingIsSharedBetweenPrincipalsOrMeta) {
  gateway.discover();
  open = false;
  std::vector<std::unique_ptr<RawClient>> clients;
  clients.push_back(ask("a"));
  clients.push_back(ask("b"));
  clients.push_back(ask("a", R"(,"user":"x")"));
  clients.push_back(ask("a", R"(,"user":"y")"));
  wait_until([&] { return upstream.received("tools/list").size() == 4; });
  open = true;
  for (const auto& client : clients)
    EXPECT_EQ(client->read_answer().status, 200);
}

TEST_F(SharedLists, SomebodyWhoGivesUpTakesNobodyAlong) {
  gateway.discover();
  open = false;
  auto first = ask("a");
  wait_until([&] { return upstream.received("tools/list").size() == 1; });
  auto leads = ask("a");
  settle();
  const auto follows = ask("a");
  settle();
  first.reset();
  leads.reset();
  settle();
  open = true;
  EXPECT_EQ(follows->read_answer().status, 200);
}

}  // namespace
}  // namespace proteus::gateway
