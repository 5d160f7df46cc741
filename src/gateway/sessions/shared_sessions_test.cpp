// REP: tool sessions of two processes that share a store.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "gateway/operate/token_registry.hpp"
#include "gateway/sessions/tool_sessions.hpp"
#include "store/testing/full_store.hpp"

namespace proteus::gateway {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr auto kIdle = 30min;

// A store in which something happens in the middle of a change.
class InterruptedStore final : public store::test::FullStore {
 public:
  Task<Result<std::optional<store::ToolSessionRecord>>> tool_session(std::string id) override {
    auto record = co_await FullStore::tool_session(std::move(id));
    if (const auto then = std::exchange(after_reading, {})) co_await then();
    co_return record;
  }

  std::function<Task<>()> after_reading;
};

class Process {
 public:
  Process(store::Store& store, const Clock& clock, cluster::Leases* leases = nullptr)
      : egress_({.allow_loopback = true}),
        gateway(workers_, clock, fixed_environment({}), store, SealingKey::random(), sharing(leases)),
        sessions({workers_, gateway, store, clock, egress_, true}, options()) {
    workers_.run();
    EXPECT_TRUE(run(sessions.load()));
  }
  ~Process() {
    gateway.stop();
    run(sessions.stop());
    workers_.stop();
    workers_.join();
  }

  template <class T>
  T run(Task<T> task) {
    return boost::asio::co_spawn(workers_.at(0), std::move(task), boost::asio::use_future).get();
  }
  ToolSessions::Initialized init(std::string id) {
    ToolSessions::Init init{.id = ToolSessionId(id), .user_token = Secret("token of " + id), .user_id = "7"};
    return run(sessions.init(std::move(init), "a test")).value();
  }
  void add_tool(const std::string& id) {
    constexpr std::string_view kTools = R"([{"name":"one","description":"d","url":"http://127.0.0.1:9/",)"
                                        R"("inputSchema":{"type":"object"}}])";
    auto tools = sessions.read_tools(boost::json::parse(kTools).as_array(), kTools).value();
    EXPECT_TRUE(run(sessions.register_tools({.id = ToolSessionId(id), .tools = std::move(tools)}, "a test")));
  }
  bool knows(const std::string& id) const { return gateway.holder_of("token of " + id) != nullptr; }
  void follow(std::string id) { EXPECT_TRUE(run(sessions.follow(ToolSessionId(std::move(id))))); }

 private:
  static GatewayOptions sharing(cluster::Leases* leases) {
    GatewayOptions options;
    options.leases = leases;
    return options;
  }
  static ToolSessionOptions options() {
    ToolSessionOptions options;
    options.idle = kIdle;
    return options;
  }

  net::Workers workers_{1};
  Egress egress_;

 public:
  Gateway gateway;
  ToolSessions sessions;
};

class SharedSessions : public testing::Test {
 protected:
  ManualClock clock_;
  InterruptedStore store_;
  Process here_{store_, clock_};
  Process there_{store_, clock_};
};

// SES-17
TEST_F(SharedSessions, LiveAsLongAsAnyProcessUsesThem) {
  here_.init("s");
  here_.add_tool("s");
  there_.follow("s");
  clock_.advance(kIdle - 1min);
  EXPECT_TRUE(here_.knows("s"));
  here_.run(here_.sessions.look_over());
  clock_.advance(2min);
  // This process has not asked about it yet.
  EXPECT_TRUE(there_.knows("s"));
  EXPECT_TRUE(there_.sessions.use(ToolSessionId("s")));
}

// REP-06: a process that has stalled has had no time to notice it.
TEST_F(SharedSessions, AreRefusedAsSoonAsTheirEndMayHaveBeenMissedForTooLong) {
  boost::asio::io_context unused;
  const cluster::Member member(unused, store_, clock_, {.name = "stalled", .facts = "{}", .blind_after = 60s});
  cluster::Leases leases(unused, store_, member);
  Process stalled(store_, clock_, &leases);
  TokenRegistry tokens({stalled.gateway.control(), stalled.gateway, store_, clock_, true});
  stalled.init("s");
  const auto made = stalled.run(tokens.create(boost::json::object{{"name", "ci"}}, "a test")).value();
  const auto knows_token = [&] { return stalled.gateway.holder_of(made.secret.reveal()) != nullptr; };
  clock_.advance(59s);
  EXPECT_TRUE(stalled.knows("s"));
  EXPECT_TRUE(knows_token());
  clock_.advance(1s);
  EXPECT_FALSE(stalled.knows("s"));
  EXPECT_FALSE(knows_token());
  stalled.run(tokens.stop());
}

// SES-17: a registration that comes to a process at which nobody used the session keeps it as it is.
TEST_F(SharedSessions, AreNotMadeAnewWhereTheyAreUsedElsewhere) {
  here_.init("s");
  here_.add_tool("s");
  there_.follow("s");
  clock_.advance(kIdle - 1min);
  EXPECT_TRUE(here_.knows("s"));
  here_.run(here_.sessions.look_over());
  clock_.advance(2min);
  EXPECT_EQ(there_.init("s"), ToolSessions::Initialized::updated);
  EXPECT_THAT(there_.run(store_.session_tools()).value(), testing::SizeIs(1));
}

// SES-17: among very many sessions, each is asked about before it ends.
TEST_F(SharedSessions, AreAllAskedAboutHoweverManyThereAre) {
  constexpr int kSessions = 1200;
  for (int i = 0; i < kSessions; ++i)
    here_.init(fmt::format("s{}", i));
  EXPECT_TRUE(there_.run(there_.sessions.follow_all()));
  clock_.advance(kIdle / 2);
  for (int i = 0; i < kSessions; ++i)
    EXPECT_TRUE(here_.knows(fmt::format("s{}", i)));
  here_.run(here_.sessions.look_over());
  for (int i = 0; i < 3; ++i)
    there_.run(there_.sessions.look_over());
  const auto since = clock_.now() - kIdle / 2;
  for (const auto& entry : there_.sessions.all())
    EXPECT_GT(entry.session->last_used(), since);
}

// SES-17
TEST_F(SharedSessions, EndWhereNoProcessUsesThem) {
  here_.init("s");
  there_.follow("s");
  clock_.advance(kIdle + 1min);
  there_.run(there_.sessions.look_over());
  EXPECT_FALSE(there_.knows("s"));
  EXPECT_THAT(there_.run(store_.tool_sessions()).value(), testing::IsEmpty());
}

// REP-03: one process ends a session while another process makes it anew.
TEST_F(SharedSessions, AreNotEndedBySomebodyWhoKnowsTheOldOne) {
  here_.init("s");
  there_.follow("s");
  clock_.advance(kIdle + 1min);
  // The first reading asks whether the session was used elsewhere, the second one is about to end it.
  bool is_anew = false;
  store_.after_reading = [&]() -> Task<> {
    store_.after_reading = [&]() -> Task<> {
      here_.init("s");
      is_anew = true;
      co_return;
    };
    co_return;
  };
  there_.run(there_.sessions.look_over());
  EXPECT_TRUE(is_anew);
  EXPECT_THAT(there_.run(store_.tool_sessions()).value(), testing::SizeIs(1));
  there_.follow("s");
  EXPECT_TRUE(there_.knows("s"));
  EXPECT_TRUE(here_.knows("s"));
}

}  // namespace
}  // namespace proteus::gateway
