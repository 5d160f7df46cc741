#include "gateway/bridge/parked_calls.hpp"

#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"

namespace proteus::gateway {
namespace {

using namespace test;

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

}  // namespace
}  // namespace proteus::gateway
