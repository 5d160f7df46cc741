#include <atomic>
#include <mutex>

#include <gmock/gmock.h>

#include "base/log/log.hpp"
#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"
#include "net/testing/closed_port.hpp"

// How a failing upstream appears to the circuit, in the status and to callers.
namespace proteus::gateway {
namespace {

using client::CircuitBreaker;
using providers::UpstreamState;
using test::Reaction;
using test::ScriptedUpstream;
using test::small_lists;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;
using test::wait_until;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

std::string message_of(const boost::json::value& answer) {
  return std::string(answer.at("error").at("message").as_string());
}

// Collects the lines of the log while it lives.
class LogLines {
 public:
  LogLines() {
    const std::scoped_lock lock(mutex());
    lines().clear();
    log::redirect([](std::string_view line) {
      const std::scoped_lock guard(mutex());
      lines().emplace_back(line);
    });
  }
  ~LogLines() { log::redirect(nullptr); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  std::vector<std::string> with(std::string_view part) const {
    const std::scoped_lock lock(mutex());
    std::vector<std::string> found;
    for (const auto& line : lines()) {
      if (line.contains(part)) found.push_back(line);
    }
    return found;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::vector<std::string>& lines() {
    static std::vector<std::string> kept;
    return kept;
  }
};

// An upstream that works, except for calls or lists that the test lets fail.
class Failing : public ::testing::Test {
 protected:
  Reaction react(const boost::json::object& message) {
    const bool list = message.at("method").as_string().ends_with("/list");
    const std::scoped_lock lock(mutex);
    if (list ? fails_lists : fails) return failure;
    if (auto lists = small_lists(message)) return *lists;
    return std::string(R"({"resultType":"complete","content":[],"contents":[],"ttlMs":0,"cacheScope":"private"})");
  }
  void fail_with(Reaction reaction) {
    const std::scoped_lock lock(mutex);
    failure = std::move(reaction);
    fails = true;
  }
  void heal() {
    const std::scoped_lock lock(mutex);
    fails = fails_lists = false;
  }
  providers::UpstreamSettings settings() {
    auto made = upstream_at("up", upstream.port());
    made.circuit_failures = 3;
    made.circuit_open = 1h;
    made.health_interval = 1h;
    return made;
  }
  std::size_t calls() { return upstream.received("tools/call").size(); }

  std::mutex mutex;
  Reaction failure = Reaction::drop();
  bool fails = false;
  bool fails_lists = false;
  ScriptedUpstream upstream{[this](const boost::json::object& message) { return react(message); }};
};

class FailingStatus : public Failing, public ::testing::WithParamInterface<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Statuses, FailingStatus, ::testing::Values(429U, 500U, 502U, 503U, 504U),
                         [](const auto& tested) { return std::to_string(tested.param); });

// REF-29, PRX-09, PRX-21
TEST_P(FailingStatus, OpensTheCircuitAndIsToldByName) {
  TestGateway gateway({settings()});
  gateway.discover();
  fail_with(Reaction::refuse(GetParam(), "<html>the balancer at 10.9.8.7</html>"));
  for (int i = 0; i < 6; ++i) {
    const std::string told = message_of(gateway.call("up_tool"));
    EXPECT_THAT(told, AllOf(HasSubstr("upstream up"), Not(HasSubstr("html")), Not(HasSubstr("10.9.8.7"))));
  }
  EXPECT_EQ(calls(), 3U) << "the others were refused at once";
  EXPECT_EQ(gateway.status("up").circuit, CircuitBreaker::State::open);
}

// REF-29: a JSON-RPC error with such a status is passed on, and is a failure all the same.
TEST_P(FailingStatus, OpensTheCircuitAlsoWithAnErrorOfJsonRpc) {
  TestGateway gateway({settings()});
  gateway.discover();
  fail_with(Reaction::error(R"({"code":-31000,"message":"no database","data":{"n":1}})", GetParam()));
  for (int i = 0; i < 3; ++i) {
    const auto error = gateway.call("up_tool").at("error");
    EXPECT_EQ(error.at("code"), -31000);
    EXPECT_EQ(error.at("message"), "upstream up: no database");
    EXPECT_EQ(error.at("data").at("n"), 1);
  }
  EXPECT_EQ(gateway.status("up").circuit, CircuitBreaker::State::open);
}

// REF-18: an error answered with HTTP 200 is an answer.
TEST_F(Failing, AnAnswerThatIsAnErrorIsNoFailure) {
  TestGateway gateway({settings()});
  gateway.discover();
  fail_with(Reaction::error(R"({"code":-31000,"message":"no"})"));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(message_of(gateway.call("up_tool")), "no");
  EXPECT_EQ(calls(), 6U);
  EXPECT_EQ(gateway.status("up").state, UpstreamState::connected);
}

// REF-18, REF-29: the circuit counts live lists like calls: each request once, however often it was sent.
TEST_F(Failing, ALiveListThatFailsIsOneFailure) {
  auto direct = settings();
  direct.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  TestGateway gateway({direct});
  gateway.discover();
  {
    const std::scoped_lock lock(mutex);
    fails_lists = true;
  }
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(message_of(gateway.ask("tools/list")), HasSubstr("upstream up"));
  EXPECT_EQ(upstream.received("tools/list").size(), 6U) << "each was sent again twice";
  EXPECT_EQ(gateway.status("up").circuit, CircuitBreaker::State::closed);
  gateway.ask("tools/list");
  EXPECT_EQ(gateway.status("up").circuit, CircuitBreaker::State::open);
  EXPECT_THAT(message_of(gateway.ask("tools/list")), HasSubstr("upstream up has failed repeatedly"));
  EXPECT_EQ(upstream.received("tools/list").size(), 9U);
}

// REF-19, REF-29
TEST_F(Failing, ReadsAreSentAgainUnlessTheUpstreamWantsALongerPause) {
  TestGateway gateway({settings()});
  gateway.discover();
  const auto read = [&] { return gateway.ask("resources/read", R"("uri":"test://r")", "test://r"); };
  fail_with(Reaction::refuse(503));
  EXPECT_TRUE(read().as_object().contains("error"));
  EXPECT_EQ(upstream.received("resources/read").size(), 3U);
  fail_with(Reaction::refuse(503, "", "Retry-After: 20\r\n"));
  EXPECT_EQ(message_of(read()), "upstream up cannot answer now; try again in 20 s");
  EXPECT_EQ(upstream.received("resources/read").size(), 4U);
}

// REF-29: the lists are not read again before the time for which the upstream asks.
TEST_F(Failing, RefreshLeavesTheUpstreamAloneForAsLongAsItAsks) {
  auto polled = settings();
  polled.auto_refresh = true;
  polled.refresh_interval = 10ms;
  polled.health_interval = 10ms;
  TestGateway gateway({polled});
  gateway.discover();
  {
    const std::scoped_lock lock(mutex);
    failure = Reaction::refuse(429, "", "Retry-After: 3600\r\n");
    fails_lists = true;
  }
  wait_until([&] { return gateway.status("up").state != UpstreamState::connected; });
  const auto lists = upstream.received("tools/list").size();
  const auto pings = upstream.received("server/discover").size();
  heal();
  // Another upstream is refreshed meanwhile, for many times the pauses that this one would have without Retry-After.
  Upstream other({"one"});
  auto busy = upstream_at("other", other.port);
  busy.event_driven_refresh = false;
  busy.auto_refresh = true;
  busy.refresh_interval = 10ms;
  ASSERT_TRUE(gateway.set({polled, busy}));
  wait_until([&] {
    return std::ranges::count_if(gateway.refreshes(), [](const auto& one) { return one.upstream.value() == "other"; }) >
           30;
  });
  EXPECT_EQ(upstream.received("tools/list").size(), lists);
  EXPECT_EQ(upstream.received("server/discover").size(), pings);
  EXPECT_FALSE(gateway.refresh("up").error) << "whoever asks for it is not kept waiting";
}

// REF-33
TEST_F(Failing, TheStatusTellsOfCallsThatFail) {
  const LogLines log;
  TestGateway gateway({settings()});
  gateway.discover();
  EXPECT_EQ(gateway.status("up").state, UpstreamState::connected);
  fail_with(Reaction::refuse(502, "bad gateway at 10.9.8.7"));
  gateway.call("up_tool");
  EXPECT_EQ(gateway.status("up").state, UpstreamState::degraded);
  EXPECT_THAT(gateway.status("up").last_error, AllOf(HasSubstr("HTTP 502"), HasSubstr("10.9.8.7")));
  EXPECT_THAT(log.with("a request did not get through"), Contains(HasSubstr("10.9.8.7"))) << "PRX-21";
  for (int i = 0; i < 5; ++i)
    gateway.call("up_tool");
  EXPECT_EQ(gateway.status("up").state, UpstreamState::failed);
  EXPECT_EQ(gateway.status("up").circuit, CircuitBreaker::State::open);
  EXPECT_THAT(gateway.status("up").last_error, HasSubstr("HTTP 502"));
  EXPECT_THAT(log.with("circuit is open"), SizeIs(1));
  EXPECT_FALSE(gateway.refresh("up").error);
  EXPECT_EQ(gateway.status("up").circuit, CircuitBreaker::State::open)
      << "that lists can be read says nothing of calls";
}

// REF-33
TEST_F(Failing, TheStatusTellsWhenCallsWorkAgain) {
  const LogLines log;
  auto probed = settings();
  probed.circuit_open = 1ms;
  TestGateway gateway({probed});
  gateway.discover();
  fail_with(Reaction::refuse(500));
  for (int i = 0; i < 6; ++i)
    gateway.call("up_tool");
  heal();
  wait_until([&] { return gateway.call("up_tool").as_object().contains("result"); });
  EXPECT_EQ(gateway.status("up").state, UpstreamState::connected);
  EXPECT_EQ(gateway.status("up").last_error, "");
  EXPECT_THAT(log.with("circuit is open"), SizeIs(1));
  EXPECT_THAT(log.with("circuit is closed"), SizeIs(1));
}

// REF-27, REF-33: the first failed call shows that an upstream is gone, and a probe finds it again.
TEST(UpstreamHealth, AnOutageShowsAtOnceAndSoDoesItsEnd) {
  const net::test::ClosedPort reserved;
  const std::uint16_t port = reserved.number();
  auto before = std::make_unique<Upstream>(std::vector<std::string>{"echo"}, server::ServerOptions{}, port);
  auto settings = upstream_at("up", port);
  settings.event_driven_refresh = false;
  settings.health_interval = 20ms;
  settings.circuit_open = 1h;
  settings.circuit_failures = 1;
  TestGateway gateway({settings});
  gateway.discover();
  before.reset();
  const std::string told = message_of(gateway.call("up_echo"));
  EXPECT_THAT(told, AllOf(HasSubstr("upstream up"), Not(HasSubstr("127.0.0.1")), Not(HasSubstr(std::to_string(port)))))
      << "PRX-21";
  const auto status = gateway.status("up");
  EXPECT_EQ(status.state, UpstreamState::failed);
  EXPECT_EQ(status.circuit, CircuitBreaker::State::open);
  EXPECT_NE(status.last_error, "");
  wait_until([&] { return gateway.status("up").consecutive_failures > 0; });

  server::Server after({.name = "upstream", .version = "1"}, {});
  after
      .add_tool({.name = "echo"},
                [](server::Context&) -> server::Outcome<server::ToolResult> { return server::ToolResult::text("ok"); })
      .value();
  ASSERT_TRUE(after.listen({.port = port}));
  wait_until([&] { return gateway.status("up").state == UpstreamState::connected; });
  EXPECT_EQ(gateway.status("up").circuit, CircuitBreaker::State::closed);
  EXPECT_TRUE(gateway.call("up_echo").as_object().contains("result"));
}

// A legacy upstream that declares changes of its tools, but offers no stream to announce them.
class Deaf : public ::testing::Test {
 protected:
  Reaction react(const boost::json::object& message) {
    const auto& method = message.at("method").as_string();
    if (method == "server/discover") {
      return Reaction::refuse(400, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"what?"}})");
    }
    if (method == "initialize") {
      return std::string(
          R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}})");
    }
    if (method == "tools/list") {
      return fmt::format(R"({{"tools":[{{"name":"tool{}","inputSchema":{{"type":"object"}}}}]}})", number.load());
    }
    return std::string(R"({"content":[]})");
  }

  std::atomic<int> number = 1;
  ScriptedUpstream upstream{[this](const boost::json::object& message) { return react(message); },
                            ScriptedUpstream::Discover::scripted};
};

// REF-16, REF-33
TEST_F(Deaf, IsPolledWhereItCannotBeListenedTo) {
  const LogLines log;
  auto settings = upstream_at("up", upstream.port());
  settings.refresh_interval = 20ms;
  TestGateway gateway({settings});
  gateway.discover();
  wait_until([&] { return gateway.status("up").watch == client::Watch::polling; });
  number = 2;
  wait_until([&] { return gateway.tools().front() == "up_tool2"; });
  EXPECT_THAT(log.with("announces no changes"),
              Contains(AllOf(HasSubstr("warning"), HasSubstr("read every refresh_interval"))));
}

// REF-32
TEST_F(Deaf, IsAskedForItsEraOnce) {
  TestGateway gateway({upstream_at("up", upstream.port())});
  gateway.discover();
  const auto asked = upstream.received("server/discover").size();
  for (int i = 0; i < 3; ++i) {
    server::LegacyClient client(gateway.port());
    client.call("1", "up_tool1", R"(,"arguments":{})");
  }
  EXPECT_EQ(upstream.received("tools/call").size(), 3U);
  EXPECT_GE(upstream.received("initialize").size(), 4U) << "each has a session of its own";
  EXPECT_EQ(upstream.received("server/discover").size(), asked);
}

// REF-33
TEST(UpstreamHealth, TheStatusTellsHowChangesAreNoticed) {
  Upstream a({"one"});
  auto listening = upstream_at("listening", a.port);
  auto polling = upstream_at("polling", a.port);
  polling.event_driven_refresh = false;
  polling.auto_refresh = true;
  auto on_use = upstream_at("on_use", a.port);
  on_use.ttl = 1h;
  auto none = upstream_at("none", a.port);
  none.event_driven_refresh = false;
  TestGateway gateway({listening, polling, on_use, none});
  gateway.discover();
  for (const char* name : {"listening", "polling", "on_use", "none"})
    wait_until([&] { return client::to_string(gateway.status(name).watch) == name; });
}

// REF-15: a reading with endless pages ends after its timeout.
TEST(UpstreamHealth, AReadingEndsAsAWhole) {
  std::atomic<int> pages = 0;
  std::atomic<bool> endless = true;
  ScriptedUpstream upstream([&](const boost::json::object& message) -> Reaction {
    if (message.at("method") != "tools/list" || !endless) return small_lists(message).value();
    Reaction page(fmt::format(
        R"({{"resultType":"complete","ttlMs":0,"cacheScope":"private","nextCursor":"{}","tools":[]}})", ++pages));
    page.takes = 20ms;
    return page;
  });
  auto settings = upstream_at("up", upstream.port());
  settings.timeout = 100ms;
  TestGateway gateway({settings});
  gateway.discover();
  EXPECT_LT(pages, 500) << "far from the limit of pages";
  EXPECT_THAT(gateway.status("up").last_error, HasSubstr("timed out"));
  const auto refreshed = gateway.refresh("up");
  ASSERT_TRUE(refreshed.error);
  EXPECT_EQ(refreshed.error->kind(), ErrorKind::timeout);
  endless = false;
  wait_until([&] { return gateway.tools().size() == 1; });
}

}  // namespace
}  // namespace proteus::gateway
