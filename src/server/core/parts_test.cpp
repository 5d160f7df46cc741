#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "mcp/over_limit.hpp"
#include "server/api/registry.hpp"
#include "server/api/uri_template.hpp"
#include "server/core/outbox.hpp"
#include "server/core/replay.hpp"
#include "server/core/request_state.hpp"
#include "server/core/session.hpp"

namespace proteus::server {
namespace {

// SEC-03
TEST(Outbox, GivesUpAClientThatDoesNotRead) {
  boost::asio::io_context io;
  auto outbox = std::make_shared<Outbox>(io.get_executor(), Outbox::Limits{.messages = 3, .bytes = 1000});
  EXPECT_TRUE(outbox->push("1"));
  EXPECT_TRUE(outbox->push("2"));
  EXPECT_TRUE(outbox->push("3"));
  EXPECT_FALSE(outbox->push("4"));
  EXPECT_TRUE(outbox->closed());
  EXPECT_EQ(outbox->take(), (std::vector<std::string>{"1", "2", "3"}));
}

TEST(Outbox, HoldsAnEqualNotificationOnce) {
  boost::asio::io_context io;
  auto outbox = std::make_shared<Outbox>(io.get_executor());
  outbox->push_once("changed");
  outbox->push_once("changed");
  EXPECT_EQ(outbox->take().size(), 1U);
  outbox->push_once("changed");
  EXPECT_EQ(outbox->take().size(), 1U);
}

TEST(Outbox, WakesItsReaderFromAnotherThread) {
  boost::asio::io_context io;
  auto outbox = std::make_shared<Outbox>(io.get_executor());
  auto event = boost::asio::co_spawn(io, outbox->wait(std::chrono::hours(1)), boost::asio::use_future);
  io.poll();
  std::thread([outbox] { outbox->push("x"); }).join();
  io.run();
  EXPECT_EQ(event.get(), Outbox::Event::messages);
}

TEST(ReplayStream, KeepsABoundedNumberOfEventsAndSaysWhenTheyAreGone) {
  boost::asio::io_context io;
  MemoryEventStore store({.events_per_stream = 3});
  ReplayStream stream({"s", 7}, &store);
  for (int i = 1; i <= 5; ++i)
    stream.push(std::to_string(i));
  auto outbox = std::make_shared<Outbox>(io.get_executor());
  EXPECT_EQ(proteus::test::run(io, stream.attach(outbox, 1)), ReplayStream::Attach::gone);
  EXPECT_EQ(proteus::test::run(io, stream.attach(outbox, 9)), ReplayStream::Attach::gone);
  EXPECT_EQ(proteus::test::run(io, stream.attach(outbox, 3)), ReplayStream::Attach::attached);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0], "id: 7-4\ndata: 4\n\n");
}

TEST(ReplayStream, DeliversWhatCameWhileNobodyWasThereOnce) {
  boost::asio::io_context io;
  MemoryEventStore store;
  ReplayStream stream({"s", 0}, &store);
  stream.push_once("a");
  stream.push_once("a");
  auto first = std::make_shared<Outbox>(io.get_executor());
  proteus::test::run(io, stream.attach(first, std::nullopt));
  EXPECT_EQ(first->take().size(), 1U);
  auto second = std::make_shared<Outbox>(io.get_executor());
  proteus::test::run(io, stream.attach(second, std::nullopt));
  EXPECT_TRUE(first->closed());
  EXPECT_TRUE(second->take().empty());
  stream.push("b");
  EXPECT_EQ(second->take().size(), 1U);
}

TEST(EventId, IsReadStrictly) {
  EXPECT_EQ(parse_event_id("3-14")->number, 14U);
  for (const char* text : {"", "3", "-", "3-", "-3", "3-x", "3-1 ", "99999999999999999999-1", "+3-1"}) {
    EXPECT_FALSE(parse_event_id(text)) << text;
  }
}

TEST(UriTemplate, MatchesSegmentsAndPaths) {
  const auto simple = UriTemplate::parse("test://template/{id}/data").value();
  EXPECT_EQ(simple.match("test://template/a%20b/data")->at(0).second, "a b");
  EXPECT_FALSE(simple.match("test://template/a/b/data"));
  EXPECT_FALSE(simple.match("test://template//data"));
  EXPECT_FALSE(simple.match("test://template/%zz/data"));
  const auto path = UriTemplate::parse("file:///{+path}").value();
  EXPECT_EQ(path.match("file:///a/b")->at(0).second, "a/b");
  EXPECT_FALSE(UriTemplate::parse("x://{a}{b}"));
  EXPECT_FALSE(UriTemplate::parse("x://{?q}"));
  EXPECT_FALSE(UriTemplate::parse("x://{a"));
  EXPECT_FALSE(UriTemplate::parse("x://a}"));
}

class States : public ::testing::Test {
 protected:
  Result<Rounds> open(const std::string& params, const Caller& caller = {}) {
    text =
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t",)" + params +
        R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
    message = json::scan(text).value();
    auto decoded = mcp::modern::decode(message, {}, {});
    if (!decoded) return std::unexpected(decoded.error());
    request = *decoded;
    return states.open(request, caller);
  }

  ManualClock clock;
  RequestStates states{SealingKey::random(), clock, std::chrono::minutes(10)};
  std::string text;
  json::Message message;
  mcp::Request request;
};

// PRO-10
TEST_F(States, BindTheCallerTheRequestAndATime) {
  const Caller alice{"alice"};
  ASSERT_TRUE(open(R"("arguments":{"a":1,"b":2},)", alice));
  const auto state = states.mint(request, alice, {.round = 1, .answers = {{"k", R"({"x":1})"}}, .state = "s"}).value();
  const std::string with_state = R"("requestState":")" + state + "\",";
  const auto opened = open(R"("arguments":{ "b":2, "a":1.0 },)" + with_state, alice);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->state, "s");
  EXPECT_EQ(opened->round, 1U);
  EXPECT_EQ(opened->answers.at("k"), R"({"x":1})");
  EXPECT_FALSE(open(R"("arguments":{"a":1,"b":3},)" + with_state, alice));
  EXPECT_FALSE(open(R"("arguments":{"a":1,"b":2},)" + with_state, Caller{"bob"}));
  EXPECT_FALSE(open(with_state, alice));
  clock.advance(std::chrono::minutes(11));
  EXPECT_FALSE(open(R"("arguments":{"a":1,"b":2},)" + with_state, alice));
}

// PRO-10: what was confirmed is what runs, to the last digit and in the same context.
TEST_F(States, BindNumbersExactlyAndTheContext) {
  const Caller alice{"alice", "sales"};
  const auto state_for = [&](const std::string& arguments) {
    EXPECT_TRUE(open(fmt::format(R"("arguments":{},)", arguments), alice));
    return states.mint(request, alice, {.round = 1, .answers = {}, .state = "s"}).value();
  };
  const auto opens = [&](const std::string& arguments, const std::string& state, const Caller& caller) {
    return open(fmt::format(R"("arguments":{},"requestState":"{}",)", arguments, state), caller).has_value();
  };
  const auto large = state_for(R"({"n":12345678901234567890123})");
  EXPECT_TRUE(opens(R"({"n":12345678901234567890123})", large, alice));
  EXPECT_FALSE(opens(R"({"n":12345678901234567890999})", large, alice));
  EXPECT_FALSE(opens(R"({"n":12345678901234567890123})", large, Caller{"alice", "other"}));
  EXPECT_FALSE(opens(R"({"n":1e500})", state_for(R"({"n":1e400})"), alice));
}

// PRO-10, SEC-03: to bring megabytes into a canonical form would keep a worker.
TEST_F(States, BindLargeArgumentsByTheirBytes) {
  const auto large = [](std::string_view first, std::string_view last) {
    return fmt::format(R"("arguments":{{"{}":1,"x":"{}","{}":1}},)", first, std::string(70'000, 'x'), last);
  };
  ASSERT_TRUE(open(large("a", "b")));
  const auto state = states.mint(request, {}, {.round = 1, .answers = {}, .state = "s"}).value();
  const std::string with_state = R"("requestState":")" + state + "\",";
  EXPECT_TRUE(open(large("a", "b") + with_state));
  EXPECT_FALSE(open(large("b", "a") + with_state));
  EXPECT_FALSE(open(large("a", "c") + with_state));
  EXPECT_FALSE(open(R"("arguments":{},)" + with_state));
}

// PRO-10: two readers of these may see two things, so that nothing can be bound to them.
TEST_F(States, AreNotMadeForArgumentsThatHaveAKeyTwice) {
  ASSERT_TRUE(open(R"("arguments":{"to":"ada","to":"eve"},)"));
  EXPECT_FALSE(states.mint(request, {}, {.round = 1, .answers = {}, .state = "s"}));
  ASSERT_TRUE(open(R"("arguments":{"x":[{"to":"ada","t\u006f":"eve"}]},)"));
  EXPECT_FALSE(states.mint(request, {}, {.round = 1, .answers = {}, .state = "s"}));
}

TEST_F(States, RefuseWhatIsNoStateOrNoResponse) {
  EXPECT_FALSE(open(R"("requestState":7,)"));
  EXPECT_FALSE(open(R"("requestState":"","inputResponses":{},)"));
  EXPECT_FALSE(open(R"("inputResponses":null,)"));
  EXPECT_FALSE(open(R"("inputResponses":{"a":1},)"));
  EXPECT_TRUE(open(R"("inputResponses":{"a":{}},)"));
}

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
  sessions.remove(other->id().value(), other->caller());
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
  const auto create = [&](std::string principal) {
    Session::Hello hello;
    hello.caller.principal = std::move(principal);
    return sessions.create(std::move(hello)).value();
  };
  const auto kept = create("one");
  const auto gone = create("one");
  const auto other = create("other");
  int looked_at = 0;
  const Listeners::Concerns second = [&](const Caller& caller) {
    ++looked_at;
    return &caller == &gone->caller();
  };
  sessions.end_of("one", second);
  EXPECT_EQ(looked_at, 2);
  EXPECT_FALSE(sessions.find(gone->id().value(), gone->caller()));
  EXPECT_TRUE(sessions.find(kept->id().value(), kept->caller()));
  EXPECT_TRUE(sessions.find(other->id().value(), other->caller()));
  EXPECT_EQ(sessions.size(), 2U);
  looked_at = 0;
  listeners.end_of("one", second);
  EXPECT_EQ(looked_at, 1);
  listeners.end_of("nobody", second);
  sessions.end_of("nobody", second);
  EXPECT_EQ(looked_at, 1);
}

Session::Hello hello_of(std::string principal) {
  Session::Hello hello;
  hello.caller.principal = std::move(principal);
  return hello;
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

TEST(MakeTool, SaysWhatIsWrongWithADefinition) {
  EXPECT_FALSE(make_tool({.name = ""}));
  EXPECT_FALSE(make_tool({.name = "two words"}));
  EXPECT_FALSE(make_tool({.name = std::string(129, 'a')}));
  EXPECT_FALSE(make_tool({.name = "a", .input_schema = {{"type", "string"}}}));
  EXPECT_FALSE(make_tool({.name = "a", .input_schema = {{"type", "object"}, {"$ref", "https://example.com/x"}}}));
  EXPECT_TRUE(make_tool({.name = "a.b/c-d_e"}));
}

TEST(MakeTool, HidesFromLegacyClientsWhatTheyCannotUnderstand) {
  const auto entry = make_tool({.name = "a", .output_schema = boost::json::object{{"type", "array"}}}).value();
  EXPECT_NE(entry.listed.modern.find("outputSchema"), std::string::npos);
  EXPECT_EQ(entry.listed.legacy.find("outputSchema"), std::string::npos);
}

}  // namespace
}  // namespace proteus::server
