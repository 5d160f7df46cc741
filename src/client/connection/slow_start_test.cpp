// Tests of programs that start slowly (REF-36).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/test_support.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using namespace test;

// REF-36: a program that starts slowly answers requests in their order.
TEST(SlowStart, ShowsAServerOfBothErasAsModern) {
  Options options = quick();
  options.probe_timeout = 10ms;
  Client client(test::stdio_fixture({"--fault", "late"}), std::move(options));
  const auto facts = client.run(client.connection.open());
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ((*facts)->era(), mcp::Era::modern);
  EXPECT_EQ(client.text("echo"), "{}");
}

// REF-36
TEST(SlowStart, IsForgivenWhenTheProbeIsAnsweredLate) {
  bool corrected = false;
  Options options = quick();
  options.probe_timeout = 10ms;
  options.on_era_corrected = [&] { corrected = true; };
  Client client(test::stdio_fixture({"--fault", "late-answer"}), std::move(options));
  ASSERT_EQ(client.run(client.connection.open()).value()->era(), mcp::Era::legacy);
  EXPECT_EQ(client.text("echo"), "{}") << "the program answers the probe before this";
  client.run_until([&] { return corrected; });
  EXPECT_EQ(client.run(client.connection.open()).value()->era(), mcp::Era::modern);
  EXPECT_EQ(client.text("echo"), "{}");
}

// REF-36
TEST(SlowStart, IsAskedAboutOnceMoreWhereTheProgramWasSilent) {
  bool corrected = false;
  Options options = quick();
  options.probe_timeout = 10ms;
  options.on_era_corrected = [&] { corrected = true; };
  Client client(test::stdio_fixture({"--fault", "forgets-probe"}), std::move(options));
  ASSERT_EQ(client.run(client.connection.open()).value()->era(), mcp::Era::legacy);
  client.connection.reconsider();
  client.run_until([&] { return corrected; });
  EXPECT_EQ(client.run(client.connection.open()).value()->era(), mcp::Era::modern);
}

// REF-36
TEST(SlowStart, WaitsForItsTurn) {
  const auto places = std::make_shared<StartPlaces>(1);
  Options options = quick();
  options.start_places = places;
  Client client(test::stdio_fixture(), std::move(options));
  auto taken = client.run(places->enter());
  net::test::Started opening(client.io, client.connection.open());
  client.run_until([&] { return places->waiting() == 1; });
  EXPECT_FALSE(client.connection.facts());
  taken.leave();
  EXPECT_TRUE(opening.finish());
  EXPECT_TRUE(client.connection.facts());
  client.run(places->enter());
}

// REF-24
TEST(SlowStart, CanBeClosedWhileItWaitsForItsTurn) {
  const auto places = std::make_shared<StartPlaces>(1);
  Options options = quick();
  options.start_places = places;
  Client client(test::stdio_fixture(), std::move(options));
  const auto taken = client.run(places->enter());
  net::test::Started opening(client.io, client.connection.open());
  client.run_until([&] { return places->waiting() == 1; });
  client.run(client.connection.close());
  EXPECT_EQ(opening.finish().error().kind(), ErrorKind::cancelled);
  EXPECT_EQ(places->waiting(), 0U);
}

// REF-36
TEST(SlowStart, IsTriedAgainWhenTheFirstCallerHasLeft) {
  boost::asio::io_context io;
  Bell never(io.get_executor());
  int starts = 0;
  const auto admit = [](Bell& bell, bool waits) -> Task<Result<std::shared_ptr<void>>> {
    if (waits) co_await bell.wait();
    co_return nullptr;
  };
  Options options = quick();
  options.admit_program = [&] { return admit(never, ++starts == 1); };
  Client client(io, test::stdio_fixture(), std::move(options));
  net::test::Started first(io, call_tool(client.connection, "echo", "{}"));
  client.run_until([&] { return starts == 1; });
  first.cancel();
  client.run_until([&] { return first.is_done(); });
  EXPECT_EQ(client.text("echo"), "{}");
}

}  // namespace
}  // namespace proteus::client
