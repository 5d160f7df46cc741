#include "providers/upstream.hpp"

#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "net/testing/scripted_server.hpp"

namespace proteus::providers {
namespace {

using namespace std::chrono_literals;

// An upstream in front of a server that takes connections and never says anything.
class SilentUpstream : public ::testing::Test {
 protected:
  ~SilentUpstream() override {
    http.close();
    io.poll();
  }

  std::unique_ptr<Upstream> make() {
    UpstreamSettings settings;
    settings.name = "silent";
    settings.url = fmt::format("http://127.0.0.1:{}/mcp", server.port());
    settings.connect_timeout = 1h;
    settings.timeout = 1h;
    return Upstream::make(std::move(settings),
                          {.io = io,
                           .http = http,
                           .clock = clock,
                           .environment = environment,
                           .chance = [] { return 0.5; },
                           .limits = {},
                           .client_info = R"({"name":"test","version":"1"})",
                           .background = background,
                           .answers = background,
                           .publish = [](catalog::SnapshotPointer) -> Result<catalog::Publication> {
                             return std::unexpected(errors::internal("nothing is there"));
                           },
                           .on_refreshed = [this](const auto&, const auto*) { ++refreshes; },
                           .keep = {},
                           .on_resource_updated = {}})
        .value();
  }
  template <class T>
  std::future<T> begin(Task<T> task) {
    return boost::asio::co_spawn(io, std::move(task), boost::asio::use_future);
  }
  // What it is once everything that can be done is done; nothing where somebody still waits for it.
  template <class T>
  std::optional<T> ended(std::future<T>& future) {
    io.poll();
    if (future.wait_for(0s) != std::future_status::ready) return std::nullopt;
    return future.get();
  }

  boost::asio::io_context io;
  SystemClock clock;
  Environment environment = fixed_environment({});
  BackgroundThreads background{1};
  net::HttpClient http{io, clock};
  net::test::ScriptedServer server{
      io, {{net::test::receive(), net::test::hold()}, {net::test::receive(), net::test::hold()}}};
  int refreshes = 0;
};

TEST_F(SilentUpstream, EndsTheFirstTryWhenItIsClosed) {
  const auto upstream = make();
  upstream->start();
  auto tried = begin(upstream->first_try());
  net::test::run_until(io, [&] { return !server.requests.empty(); });
  net::test::run(io, upstream->close());
  const auto result = ended(tried);
  ASSERT_TRUE(result) << "still waited for";
  ASSERT_FALSE(result->has_value());
  EXPECT_EQ(result->error().kind(), ErrorKind::cancelled);
  EXPECT_EQ(refreshes, 0) << "nothing went wrong with the upstream";
}

TEST_F(SilentUpstream, EndsTheFirstTryWhenItIsClosedBeforeItBegins) {
  const auto upstream = make();
  auto tried = begin(upstream->first_try());
  net::test::run(io, upstream->close());
  const auto result = ended(tried);
  ASSERT_TRUE(result) << "still waited for";
  EXPECT_FALSE(result->has_value());
}

TEST_F(SilentUpstream, EndsTheRefreshInFlightWhenItIsClosed) {
  const auto upstream = make();
  auto asked = begin(upstream->refresh());
  io.poll();  // asked for before anything is read, so that the first reading is this one
  upstream->start();
  net::test::run_until(io, [&] { return !server.requests.empty(); });
  auto asked_later = begin(upstream->refresh());
  io.poll();
  net::test::run(io, upstream->close());
  const auto result = ended(asked);
  ASSERT_TRUE(result) << "still waited for";
  EXPECT_EQ(result->error.value().kind(), ErrorKind::cancelled);
  const auto later = ended(asked_later);
  ASSERT_TRUE(later) << "still waited for";
  EXPECT_EQ(later->error.value().kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace proteus::providers
