#include "providers/upstream.hpp"

#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "catalog/view/catalog.hpp"
#include "client/testing/fake_server.hpp"
#include "net/testing/scripted_server.hpp"

namespace proteus::providers {
namespace {

using namespace std::chrono_literals;

// An upstream whose server accepts connections and never answers.
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
  // Returns the result after running all handlers that need not wait; nothing if the result is still awaited.
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
  io.poll();  // requested before any reading begins, so that the first reading is this one
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

// An upstream whose modern server the test programs.
class ReadUpstream : public ::testing::Test {
 protected:
  ~ReadUpstream() override {
    if (upstream) net::test::run(io, upstream->close());
    http.close();
    io.poll();
  }

  enum class Processes : std::uint8_t { one, several };
  void make(Processes processes = Processes::one) {
    UpstreamSettings settings;
    settings.name = "read";
    settings.url = server.url().text();
    catalog.set_order({catalog::UpstreamName(settings.name)}).value();
    UpstreamLimits limits;
    limits.first_retry = 1ms;
    limits.last_retry = 10ms;
    upstream =
        Upstream::make(std::move(settings),
                       {.io = io,
                        .http = http,
                        .clock = clock,
                        .environment = environment,
                        .chance = [] { return 0.5; },
                        .limits = limits,
                        .client_info = R"({"name":"test","version":"1"})",
                        .shared = processes == Processes::several,
                        .fence = [this] { return fence; },
                        .background = background,
                        .answers = background,
                        .publish = [this](catalog::SnapshotPointer snapshot) { return publish(std::move(snapshot)); },
                        .on_refreshed = {},
                        .keep = {},
                        .on_resource_updated = {}})
            .value();
  }
  template <class T>
  std::future<T> begin(Task<T> task) {
    return boost::asio::co_spawn(io, std::move(task), boost::asio::use_future);
  }
  Result<catalog::Publication> publish(catalog::SnapshotPointer snapshot) {
    const std::uint64_t version = snapshot->version();
    auto published = catalog.publish(std::move(snapshot));
    const std::scoped_lock lock(mutex);
    if (published) versions.push_back(version);
    return published;
  }

  boost::asio::io_context io;
  SystemClock clock;
  Environment environment = fixed_environment({});
  BackgroundThreads background{1};
  net::HttpClient http{io, clock};
  client::test::FakeMcp mcp = client::test::FakeMcp::modern();
  client::test::FakeServer server{io, [this](const auto& request) { return mcp(request); }};
  std::optional<store::Fence> fence = store::Fence{"upstream read", 1};
  catalog::Catalog catalog;
  std::mutex mutex;
  std::vector<std::uint64_t> versions;
  std::unique_ptr<Upstream> upstream;
};

TEST_F(ReadUpstream, FailsNoReadingBecauseItIsRestoredMeanwhile) {
  // A definition of 4 KB is read here, and compared in the background, which is busy.
  mcp.on["tools/list"] = [](const client::test::FakeRequest& request) {
    return client::test::result(
        request, fmt::format(R"({{"tools":[{{"name":"a","description":"{}","inputSchema":{{"type":"object"}}}}]}})",
                             std::string(4000, 'x')));
  };
  std::promise<void> go_on;
  auto busy = begin(background.run([&go_on] {
    go_on.get_future().wait();
    return 0;
  }));
  make();
  upstream->start();
  net::test::run_until(io, [&] { return server.count("tools/list") == 1; });
  net::test::settle(io);
  store::SnapshotRecord record;
  record.kind = "tools";
  record.entries = R"([{"name":"b","inputSchema":{"type":"object"}}])";
  net::test::Started restored(io, upstream->restore({record}));
  net::test::settle(io);
  go_on.set_value();
  EXPECT_TRUE(net::test::run(io, upstream->first_try()));
  restored.finish();
  net::test::run_until(io, [&] { return busy.wait_for(0s) == std::future_status::ready; });
}

// What another process stored is in use, although a reading of this one ends later.
TEST_F(ReadUpstream, TakesWhatTheProcessStoredThatWatchesItNow) {
  mcp.on["tools/list"] = [](const client::test::FakeRequest& request) {
    return client::test::result(
        request, fmt::format(R"({{"tools":[{{"name":"a","description":"{}","inputSchema":{{"type":"object"}}}}]}})",
                             std::string(4000, 'x')));
  };
  std::promise<void> go_on;
  auto busy = begin(background.run([&go_on] {
    go_on.get_future().wait();
    return 0;
  }));
  make(Processes::several);
  upstream->set_leading(true);
  net::test::run_until(io, [&] { return server.count("tools/list") == 1; });
  net::test::settle(io);
  upstream->set_leading(false);
  store::SnapshotRecord record;
  record.kind = "tools";
  record.entries = R"([{"name":"b","inputSchema":{"type":"object"}},{"name":"c","inputSchema":{"type":"object"}}])";
  net::test::Started restored(io, upstream->restore({record}));
  net::test::settle(io);
  go_on.set_value();
  EXPECT_TRUE(restored.finish());
  EXPECT_EQ(upstream->status().tools, 2U);
  net::test::run_until(io, [&] { return busy.wait_for(0s) == std::future_status::ready; });
}

// REP-05: the process has a connection of its own then, but not its own lists.
TEST_F(ReadUpstream, PublishesNothingOfItsOwnIfItsClientsOnlyFollowAResource) {
  mcp.on["resources/list"] = [](const client::test::FakeRequest& request) {
    return client::test::result(request, R"({"resources":[]})");
  };
  mcp.on["resources/templates/list"] = [](const client::test::FakeRequest& request) {
    return client::test::result(request, R"({"resourceTemplates":[]})");
  };
  fence.reset();
  make(Processes::several);
  upstream->follow({"test://one"});
  net::test::run_until(io, [&] { return upstream->status().last_refresh_at.has_value(); });
  EXPECT_TRUE(versions.empty());
  store::SnapshotRecord record;
  record.kind = "tools";
  record.entries = R"([{"name":"b","inputSchema":{"type":"object"}},{"name":"c","inputSchema":{"type":"object"}}])";
  EXPECT_TRUE(net::test::run(io, upstream->restore({record})));
  EXPECT_EQ(upstream->status().tools, 2U);
}

// A server of both eras, whose legacy side fails at first.
TEST_F(ReadUpstream, IsLookedAtAgainForALegacySide) {
  auto legacy = client::test::FakeMcp::legacy();
  int status = 503;
  mcp.on["initialize"] = [&](const client::test::FakeRequest& request) {
    return status == 200 ? legacy.on["initialize"](request) : client::test::FakeResponse{.status = status};
  };
  mcp.on["resources/list"] = [](const client::test::FakeRequest& request) {
    return client::test::result(request, R"({"resources":[]})");
  };
  mcp.on["resources/templates/list"] = [](const client::test::FakeRequest& request) {
    return client::test::result(request, R"({"resourceTemplates":[]})");
  };
  make();
  upstream->start();
  net::test::run_until(io, [&] { return server.count("initialize") == 2; });
  EXPECT_FALSE(upstream->legacy_side());
  status = 200;
  net::test::run_until(io, [&] { return upstream->legacy_side() != nullptr; });

  // The next look fails, and what was known remains in use.
  status = 503;
  mcp.on["tools/list"] = [](const client::test::FakeRequest& request) {
    return client::test::result(request, R"({"tools":[{"name":"other","inputSchema":{"type":"object"}}]})");
  };
  const std::size_t before = server.count("initialize");
  EXPECT_TRUE(net::test::run(io, upstream->refresh()).ok());
  net::test::run_until(io, [&] { return server.count("initialize") >= before + 2; });
  EXPECT_TRUE(upstream->legacy_side());
}

}  // namespace
}  // namespace proteus::providers
