#include "gateway/bridge/parked_calls.hpp"

#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"
#include "gateway/testing/scripted_upstream.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::text_of;

Task<> nothing() { co_return; }

Task<> store_slowly(std::atomic<bool>& begun, std::atomic<bool>& done) {
  begun = true;
  while (!done)
    co_await sleep_for(1ms);
}

// A call is parked only after the store knows its session, which takes a while.
TEST(ParkedCalls, DoNotOutliveARequestThatEndedWhileItsCallWasBeingParked) {
  AskingUpstream upstream(legacy_only());
  auto settings = upstream_at("up", upstream.port);
  settings.prefix = "";
  TestGateway gateway({settings}, {.principals = {{.name = "ada", .token = Secret("a")}}, .workers = 1});
  gateway.discover();
  ParkedCalls& parked = gateway.gateway.service().parked();
  std::atomic<bool> storing = false;
  std::atomic<bool> stored = false;
  parked.set_prepare([&](const ParkedCalls::Call&) { return store_slowly(storing, stored); });
  ModernClient ada(gateway, kEverything, "a");
  RawClient request(gateway.port());
  request.send_request("POST", ada.fields("tools/call", "greet"),
                       ada.body("tools/call", R"("name":"greet","arguments":{})"));
  wait_until([&] { return storing.load(); });
  gateway.gateway.end_callers({"ada"}, "the token was revoked");
  gateway.run(nothing());  // the only worker has ended the calls of ada by then
  stored = true;
  EXPECT_FALSE(asks(request.read_answer().json()));
  EXPECT_EQ(parked.size(), 0U);
}

Task<> end_callers(Gateway& gateway) {
  gateway.end_callers({"ada"}, "the token was revoked");
  co_return;
}

// The request learns that it was cancelled only after its call is parked.
TEST(ParkedCalls, EndWithTheirCallersThoughTheyAreParkedAtThatMoment) {
  AskingUpstream upstream(legacy_only());
  auto settings = upstream_at("up", upstream.port);
  settings.prefix = "";
  TestGateway gateway({settings}, {.principals = {{.name = "ada", .token = Secret("a")}}, .workers = 1});
  gateway.discover();
  ParkedCalls& parked = gateway.gateway.service().parked();
  parked.set_prepare([&](const ParkedCalls::Call&) { return end_callers(gateway.gateway); });
  ModernClient ada(gateway, kEverything, "a");
  EXPECT_TRUE(asks(ada.call("greet")));
  wait_until([&] { return parked.size() == 0; });
  EXPECT_EQ(upstream.runs, 0);
}

IssuedTokens::Entry issued(std::string_view secret, std::optional<Clock::Wall> expires) {
  const PrincipalSettings settings{.name = "ci", .token = {}};
  return {std::make_shared<const Principal>(
              Principal::Parts{.name = "ci",
                               .permissions = std::make_shared<const Permissions>(permissions_of(settings)),
                               .key = "ci#1",
                               .token = json::sha256(secret),
                               .expires = expires}),
          std::make_shared<LastUse>()};
}

// OAU-10: only the streams of a rotated secret end with the overlap.
TEST(ParkedCalls, AreResumedWithTheNewSecretOfATokenThatWasRotatedMeanwhile) {
  AskingUpstream upstream(legacy_only());
  auto settings = upstream_at("up", upstream.port);
  settings.prefix = "";
  ManualClock clock;
  TestGateway gateway({settings}, {.workers = 1, .clock = &clock});
  gateway.discover();
  gateway.gateway.set_tokens(std::make_shared<const IssuedTokens>(
      std::vector{issued("old", clock.wall() + std::chrono::hours(1)), issued("new", {})}));
  std::atomic<bool> storing = false;
  std::atomic<bool> stored = false;
  gateway.gateway.service().parked().set_prepare(
      [&](const ParkedCalls::Call&) { return store_slowly(storing, stored); });
  const ModernClient before(gateway, kEverything, "old");
  RawClient request(gateway.port());
  request.send_request("POST", before.fields("tools/call", "greet"),
                       before.body("tools/call", R"("name":"greet","arguments":{})"));
  wait_until([&] { return storing.load(); });
  clock.advance(std::chrono::hours(2));
  gateway.gateway.end_expired();
  gateway.run(nothing());
  stored = true;
  const auto asked = request.read_answer().json();
  ASSERT_TRUE(asks(asked)) << asked;
  ModernClient after(gateway, kEverything, "new");
  EXPECT_EQ(text_of(after.again("greet", asked, fmt::format(R"({{"name":{}}})", kAda))), "Hello, Ada");
}

// It must be known first whether the upstream keeps sessions, which may take long.
TEST(BridgedCalls, AreNotSentIfTheyWereCancelledBeforeTheUpstreamWasKnown) {
  std::atomic<bool> answers = false;
  ScriptedUpstream upstream(
      [&](const boost::json::object& message) -> Reaction {
        const auto& method = message.at("method").as_string();
        if (method == "server/discover") return Reaction::refuse(400);
        if (method != "initialize") return std::string(R"({"content":[],"tools":[]})");
        Reaction hello(std::string(
            R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}})"));
        hello.gate = &answers;
        return hello;
      },
      ScriptedUpstream::Discover::scripted);
  auto settings = upstream_at("up", upstream.port());
  settings.prefix = "";
  settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  TestGateway gateway({settings}, {.principals = {{.name = "ada", .token = Secret("a")}}, .workers = 1});
  const ModernClient ada(gateway, kEverything, "a");
  RawClient request(gateway.port());
  request.send_request("POST", ada.fields("tools/call", "pay"),
                       ada.body("tools/call", R"("name":"pay","arguments":{})"));
  wait_until([&] { return gateway.gateway.is_calling("ada"); });
  gateway.gateway.end_callers({"ada"}, "the token was revoked");
  gateway.run(nothing());  // the only worker has posted the cancellation by then,
  gateway.run(nothing());  // and cancelled the call
  answers = true;
  EXPECT_EQ(request.read_answer().json().at("error").at("message"), "the token was revoked: the request was cancelled");
  EXPECT_EQ(upstream.received("tools/call").size(), 0U);
}

}  // namespace
}  // namespace proteus::gateway
