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

using RefresherTest = test::ModernHttp;

// REF-12
TEST_F(RefresherTest, GoesOnAfterAnExceptionDuringACheckOfTheServer) {
  const auto authorizer = std::make_shared<BrokenAuthorizer>();
  Options options = test::quick();
  options.authorizer = authorizer;
  const SystemClock clock;
  net::HttpClient http(io, clock);
  CircuitBreaker breaker(clock, 5, 1s);
  const auto nothing = []() -> Task<Result<Gathered>> { co_return Gathered{}; };
  Refresher refresher({.health_interval = 1ms},
                      {.executor = io.get_executor(),
                       .clock = clock,
                       .chance = random_chance,
                       .breaker = breaker,
                       .name = "the server",
                       .read = nothing},
                      transports_to(server.url(), io, http), std::move(options));
  refresher.start();
  EXPECT_TRUE(net::test::run(io, refresher.first_try()));
  authorizer->broken = true;
  net::test::run_until(io, [&] { return authorizer->faults == 3; });
  authorizer->broken = false;
  EXPECT_TRUE(net::test::run(io, refresher.refresh()).ok());
  net::test::run(io, refresher.close());
  http.close();
  net::test::settle(io);
}

}  // namespace
}  // namespace proteus::client
