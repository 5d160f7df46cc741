#include "server/core/session.hpp"

#include <functional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "mcp/over_limit.hpp"

namespace proteus::server {
namespace {

TEST(Sessions, AreBoundedAndEndWhenIdle) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  Sessions sessions(clock, listeners, events, {.sessions = 2, .idle = std::chrono::minutes(30)});
  const auto first = sessions.create({}).value();
  const auto second = sessions.create({}).value();
  EXPECT_FALSE(sessions.create({}));
  clock.advance(std::chrono::minutes(20));
  EXPECT_TRUE(sessions.find(first->id().value(), {}));
  clock.advance(std::chrono::minutes(20));
  EXPECT_TRUE(sessions.create({}));
  EXPECT_TRUE(sessions.find(first->id().value(), {}));
  EXPECT_FALSE(sessions.find(second->id().value(), {}));
  EXPECT_EQ(listeners.size(), 2U);
}

// SES-17
TEST(Sessions, AreNotIdleWhileARequestRuns) {
  boost::asio::io_context io;
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  Sessions sessions(clock, listeners, events, {.idle = std::chrono::minutes(30)});
  const std::string id = sessions.create({}).value()->id().value();
  const auto running = std::make_shared<Cancellation>(io.get_executor());
  ASSERT_TRUE(sessions.find(id, {})->in_flight().add("1", running));
  clock.advance(std::chrono::minutes(40));
  sessions.end_idle();
  const auto session = sessions.find(id, {});
  ASSERT_TRUE(session);
  session->in_flight().remove("1");
  clock.advance(std::chrono::minutes(40));
  sessions.end_idle();
  EXPECT_FALSE(sessions.find(id, {}));
  const auto late = std::make_shared<Cancellation>(io.get_executor());
  session->in_flight().add("2", late);
  proteus::test::settle(io);
  EXPECT_FALSE(running->requested());
  EXPECT_EQ(late->reason(), "the session has ended");
}

TEST(Sessions, AreNotAllOnePrincipals) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  Sessions sessions(clock, listeners, events, {.sessions = 16, .idle = std::chrono::minutes(30)});
  const auto create = [&](std::string principal) {
    Session::Hello hello;
    hello.caller.principal = std::move(principal);
    return sessions.create(std::move(hello));
  };
  for (int i = 0; i < 12; ++i)
    ASSERT_TRUE(create("greedy"));
  const auto refused = create("greedy");
  ASSERT_FALSE(refused) << "a quarter is for those who have less than an eighth";
  EXPECT_GT(mcp::retry_after(refused.error()).count(), 0);
  const auto other = create("other").value();
  EXPECT_TRUE(create("other"));
  EXPECT_FALSE(create("other"));
  EXPECT_TRUE(create(""));
  EXPECT_TRUE(create(""));
  EXPECT_EQ(sessions.size(), 16U);
  const auto full = create("new");
  ASSERT_FALSE(full);
  EXPECT_EQ(mcp::retry_after(full.error()).count(), 0) << "it is nothing that this one did";
  sessions.remove(other->id().value(), *other->caller());
  EXPECT_FALSE(create("greedy"));
  EXPECT_TRUE(create("new"));
  clock.advance(std::chrono::minutes(30));
  EXPECT_TRUE(create("greedy"));
  EXPECT_EQ(sessions.size(), 1U);
}

TEST(Sessions, OfOnePrincipalEndWithoutALookAtOthers) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  Sessions sessions(clock, listeners, events, {});
  const auto create = [&](std::string principal, Clock::Wall until = Clock::Wall::max()) {
    Session::Hello hello;
    hello.caller.principal = std::move(principal);
    hello.caller.until = until;
    return sessions.create(std::move(hello)).value();
  };
  const Clock::Wall until{std::chrono::hours(1)};
  const auto kept = create("one");
  const auto gone = create("one", until);
  const auto other = create("other");
  int looked_at = 0;
  const Listeners::Concerns second = [&](const Caller& caller) {
    ++looked_at;
    return caller.until == until;
  };
  sessions.end_of("one", second);
  EXPECT_EQ(looked_at, 2);
  EXPECT_FALSE(sessions.find(gone->id().value(), *gone->caller()));
  EXPECT_TRUE(sessions.find(kept->id().value(), *kept->caller()));
  EXPECT_TRUE(sessions.find(other->id().value(), *other->caller()));
  EXPECT_EQ(sessions.size(), 2U);
  looked_at = 0;
  listeners.end_of("one", second);
  EXPECT_EQ(looked_at, 1);
  listeners.end_of("nobody", second);
  sessions.end_of("nobody", second);
  EXPECT_EQ(looked_at, 1);
}

// OAU-10
TEST(Sessions, FollowTheNewestCredentialsOfTheirClient) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  Sessions sessions(clock, listeners, events, {});
  Caller first{
      .principal = "mia", .grant = std::make_shared<const Grant>(), .until = Clock::Wall(std::chrono::hours(1))};
  Caller second{
      .principal = "mia", .grant = std::make_shared<const Grant>(), .until = Clock::Wall(std::chrono::hours(2))};
  const auto session = sessions.create({.caller = first}).value();
  EXPECT_EQ(session->caller()->grant, first.grant);
  ASSERT_TRUE(sessions.find(session->id().value(), second));
  EXPECT_EQ(session->caller()->grant, second.grant);
  EXPECT_EQ(session->until(), second.until);
  ASSERT_TRUE(sessions.find(session->id().value(), first)) << "it is still good";
  EXPECT_EQ(session->caller()->grant, first.grant);
  EXPECT_EQ(session->until(), second.until);
  std::vector<std::shared_ptr<const Grant>> told;
  listeners.list_changed(mcp::Method::tools_changed, [&](const Caller& caller) {
    told.push_back(caller.grant);
    return true;
  });
  EXPECT_EQ(told, std::vector{first.grant});
}

// OAU-10
TEST(Sessions, AnnounceOnTheStreamThatIsOpenedWithNewCredentials) {
  boost::asio::io_context io;
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  Sessions sessions(clock, listeners, events, {});
  const Clock::Wall until{std::chrono::hours(1)};
  const auto session = sessions.create({.caller = {.principal = "mia", .until = until}}).value();
  const auto open = [&] {
    auto outbox = std::make_shared<Outbox>(io.get_executor());
    EXPECT_EQ(proteus::test::run(io, session->standalone()->attach(outbox, std::nullopt)),
              ReplayStream::Attach::attached);
    return outbox;
  };
  const auto first = open();
  listeners.end_expired(until);
  EXPECT_TRUE(first->closed());
  listeners.list_changed(mcp::Method::prompts_changed);
  ASSERT_TRUE(sessions.find(session->id().value(), {.principal = "mia"}));
  const auto second = open();
  EXPECT_FALSE(second->closed());
  listeners.list_changed(mcp::Method::tools_changed);
  const auto told = second->take();
  ASSERT_EQ(told.size(), 2U) << "also what changed meanwhile";
  EXPECT_NE(told[1].find("tools/list_changed"), std::string::npos);
  sessions.remove(session->id().value(), *session->caller());
  EXPECT_TRUE(second->closed());
  EXPECT_TRUE(open()->closed()) << "the session is over";
}

Session::Hello hello_of(std::string principal) {
  Session::Hello hello;
  hello.caller.principal = std::move(principal);
  return hello;
}

// REP-14: a request may take a session back while it is handed over.
TEST(SessionPlaces, CountASessionAsOftenAsItIsThere) {
  SessionPlaces places(8);
  auto first = places.take("mia", "session");
  auto second = places.take("mia", "session");
  EXPECT_EQ(places.taken(), 2U);
  first = {};
  EXPECT_EQ(places.taken(), 1U);
  EXPECT_EQ(places.ids_of("mia"), std::vector<std::string>{"session"});
  second = {};
  EXPECT_EQ(places.taken(), 0U);
  EXPECT_TRUE(places.ids_of("mia").empty());
}

// SEC-07
TEST(Sessions, OfTheAnonymousLeaveAReserve) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  Sessions sessions(clock, listeners, events, {.sessions = 16, .reserve = 4});
  for (int i = 0; i < 12; ++i)
    EXPECT_TRUE(sessions.create({}));
  EXPECT_FALSE(sessions.create({}));
  EXPECT_TRUE(sessions.create(hello_of("agent")));
  Sessions all(clock, listeners, events, {.sessions = 16});
  for (int i = 0; i < 16; ++i)
    EXPECT_TRUE(all.create({})) << "where nobody has a name";
}

// SEC-07
TEST(Sessions, ThatWereNeverUsedGoFirst) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  Sessions sessions(clock, listeners, events, {.sessions = 4, .reserve = 1, .unused = std::chrono::seconds(10)});
  const auto used = sessions.create({}).value();
  const auto unused = sessions.create({}).value();
  clock.advance(std::chrono::seconds(9));
  EXPECT_TRUE(sessions.find(used->id().value(), {}));
  const auto young = sessions.create({}).value();
  EXPECT_FALSE(sessions.create({})) << "all could still be wanted";
  clock.advance(std::chrono::seconds(2));
  EXPECT_TRUE(sessions.create({}));
  EXPECT_FALSE(sessions.find(unused->id().value(), {}));
  EXPECT_TRUE(sessions.find(used->id().value(), {}));
  EXPECT_TRUE(sessions.find(young->id().value(), {}));
  clock.advance(std::chrono::minutes(20));
  EXPECT_TRUE(sessions.create(hello_of("agent"))) << "there is a place";
  EXPECT_TRUE(sessions.find(used->id().value(), {})) << "and nobody has to go";
}

TEST(Sessions, AreLookedThroughForIdleOnesNowAndThenOnly) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  Sessions sessions(clock, listeners, events, {.sessions = 1, .idle = std::chrono::minutes(30)});
  const auto used = sessions.create({}).value();
  ASSERT_TRUE(sessions.find(used->id().value(), {}));
  clock.advance(std::chrono::minutes(30) - std::chrono::milliseconds(500));
  EXPECT_FALSE(sessions.create({})) << "it is not idle";
  clock.advance(std::chrono::milliseconds(500));
  EXPECT_FALSE(sessions.create({})) << "they were looked at half a second ago";
  clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(sessions.create({}));
}

// Records the calls.
class ToldRecords final : public SessionRecords {
 public:
  void put(const std::string&, const SessionRecord&) override {
    if (on_put) on_put();
  }
  void remove(const std::string& id, const SessionRecord::Holder&) override { removed.push_back(id); }
  void release(const std::string& id, const SessionRecord& record) override { released.emplace_back(id, record); }
  Task<Result<bool>> hold(std::string, SessionRecord) override { co_return true; }
  Task<Result<std::optional<SessionRecord>>> read(std::string) override { co_return std::nullopt; }
  Task<Result<bool>> replace(std::string, SessionRecord::Holder, SessionRecord) override { co_return true; }

  std::function<void()> on_put;
  std::vector<std::string> removed;
  std::vector<std::pair<std::string, SessionRecord>> released;
};

// REP-14
TEST(Sessions, AreHandedOverWhenNobodyUsesThem) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  ToldRecords records;
  const SessionIds ids(SealingKey::random(), process_key_of("one"));
  Sessions sessions(clock, listeners, events, {}, &ids, &records);
  std::vector<std::string> left;
  sessions.set_on_leave([&](Session& session) {
    EXPECT_EQ(records.released.size(), left.size()) << "released before it was left";
    left.push_back(session.id().value());
  });
  auto used = sessions.create({}).value();
  const std::string idle = sessions.create({}).value()->id().value();
  sessions.find(idle, {})->set_log_level(mcp::LogLevel::error);
  EXPECT_EQ(sessions.hand_over(), 1U);
  EXPECT_FALSE(sessions.find(idle, {}));
  ASSERT_EQ(records.released.size(), 1U);
  EXPECT_EQ(records.released[0].first, idle);
  EXPECT_EQ(records.released[0].second.holder, (SessionRecord::Holder{ids.self(), 1}));
  EXPECT_EQ(records.released[0].second.log_level, mcp::LogLevel::error);
  EXPECT_TRUE(sessions.find(used->id().value(), {}));
  used.reset();
  EXPECT_EQ(sessions.hand_over(), 0U);
  EXPECT_EQ(left.size(), 2U);
  EXPECT_EQ(records.released.size(), 2U);
  EXPECT_TRUE(records.removed.empty());
  EXPECT_EQ(sessions.size(), 0U);
}

// Otherwise, the record of a session that has been ended meanwhile would be written, and would bring the session back.
TEST(Sessions, AreRecordedBeforeAnybodyCanEndThem) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  ToldRecords records;
  const SessionIds ids(SealingKey::random(), process_key_of("one"));
  Sessions sessions(clock, listeners, events, {}, &ids, &records);
  std::size_t recorded = 0;
  records.on_put = [&] { EXPECT_EQ(sessions.all().size(), recorded++); };
  EXPECT_TRUE(sessions.create({}));
  EXPECT_TRUE(sessions.adopt("left", {}, {}));
  EXPECT_EQ(recorded, 2U);
}

// REP-10
TEST(Sessions, AreRestoredBeforeAnybodyCanFindThem) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  ToldRecords records;
  const SessionIds ids(SealingKey::random(), process_key_of("one"));
  Sessions sessions(clock, listeners, events, {}, &ids, &records);
  std::string restored;
  sessions.set_on_adopt([&](Session& session, std::string_view state) {
    EXPECT_FALSE(sessions.find(session.id().value(), {}));
    restored = state;
  });
  SessionRecord record;
  record.state = "the service's";
  const auto adopted = sessions.adopt("left", {}, record).value();
  EXPECT_EQ(restored, "the service's");
  EXPECT_EQ(sessions.find("left", {}), adopted);
}

TEST(Sessions, WithoutARecordAreHandedOverToNobody) {
  ManualClock clock;
  Listeners listeners;
  MemoryEventStore events;
  Sessions sessions(clock, listeners, events, {});
  const std::string id = sessions.create({}).value()->id().value();
  EXPECT_EQ(sessions.hand_over(), 0U);
  EXPECT_TRUE(sessions.find(id, {}));
}

}  // namespace
}  // namespace proteus::server
