#include "client/connection/refresher.hpp"

#include <gtest/gtest.h>

#include "client/testing/modern_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using namespace test;

// Has no credentials; throws while it is broken.
class BrokenAuthorizer final : public Authorizer {
 public:
  Task<Result<std::vector<Header>>> headers(std::string_view /*method*/, const net::Url& /*url*/) override {
    if (broken) {
      ++faults;
      throw std::runtime_error("a fault of ours");
    }
    co_return std::vector<Header>();
  }
  Task<Result<bool>> refused(Refusal /*refusal*/) override { co_return false; }

  bool broken = false;
  int faults = 0;
};

class RefresherTest : public test::ModernHttp {
 protected:
  // Ends the refresher, and what it leaves behind.
  void end(Refresher& refresher) {
    net::test::run(io, refresher.close());
    http.close();
    net::test::settle(io);
  }
  // Reads no lists.
  Refresher::Dependencies dependencies() {
    return {.executor = io.get_executor(),
            .clock = clock,
            .chance = random_chance,
            .breaker = breaker,
            .name = "the server",
            .read = []() -> Task<Result<Gathered>> { co_return Gathered{}; }};
  }

  SystemClock clock;
  net::HttpClient http{io, clock};
  CircuitBreaker breaker{clock, 5, 1s};
};

// REF-12
TEST_F(RefresherTest, GoesOnAfterAnExceptionDuringACheckOfTheServer) {
  const auto authorizer = std::make_shared<BrokenAuthorizer>();
  Options options = test::quick();
  options.authorizer = authorizer;
  Refresher refresher({.health_interval = 1ms}, dependencies(), transports_to(server.url(), io, http),
                      std::move(options));
  refresher.start();
  EXPECT_TRUE(net::test::run(io, refresher.first_try()));
  authorizer->broken = true;
  net::test::run_until(io, [&] { return authorizer->faults == 3; });
  authorizer->broken = false;
  EXPECT_TRUE(net::test::run(io, refresher.refresh()).ok());
  end(refresher);
}

// A legacy server demands a session even for `server/discover`.
TEST_F(RefresherTest, ReadsAServerThatHasBecomeLegacy) {
  Refresher refresher({}, dependencies(), transports_to(server.url(), io, http), test::quick());
  refresher.start();
  EXPECT_TRUE(net::test::run(io, refresher.first_try()));
  EXPECT_EQ(refresher.facts()->era(), mcp::Era::modern);
  mcp = FakeMcp::legacy();
  const Reading reading = net::test::run(io, refresher.refresh());
  EXPECT_TRUE(reading.ok()) << reading.error->message();
  EXPECT_EQ(refresher.facts()->era(), mcp::Era::legacy);
  EXPECT_EQ(refresher.health().state, ServerState::connected);
  end(refresher);
}

// REF-26: its own connection may carry the requests of all callers, and meet the other era in one of them.
TEST_F(RefresherTest, KnowsAtOnceThatARequestMetTheOtherEra) {
  int readings = 0;
  auto around = dependencies();
  around.read = [&readings]() -> Task<Result<Gathered>> {
    ++readings;
    co_return Gathered{};
  };
  Refresher refresher({.health_interval = 1h}, std::move(around), transports_to(server.url(), io, http), test::quick());
  refresher.start();
  EXPECT_TRUE(net::test::run(io, refresher.first_try()));
  EXPECT_TRUE(refresher.is_modern());
  mcp = FakeMcp::legacy();
  EXPECT_TRUE(net::test::run(io, ping(refresher.connection())));
  EXPECT_FALSE(refresher.is_modern());
  net::test::run_until(io, [&] { return readings == 2; });
  end(refresher);
}

}  // namespace
}  // namespace proteus::client
